import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import { withMargin } from "../../lib/ledger/gas-limits.ts";
import { errorText } from "../../lib/log.ts";
import { shareReadBy } from "../../lib/shared-read.ts";
import { type Call, NoncesWithheld } from "../ledger/assign-nonces.ts";
import { hasOtherRelayers, LeaseLost } from "../ledger/leases.ts";
import { lookAgainIn, readWaiting, refusePurchase, SIGN_WITHIN_SECONDS } from "../ledger/waiting.ts";
import type { ChainContext } from "./chain-context.ts";
import type { Limits } from "./choose-purchases.ts";
import { compareNonces } from "./compare-nonces.ts";
import { purchaseCalldata } from "./purchase-call.ts";
import * as failures from "./purchase-failures.ts";
import { type PurchaseCall, type SigningResult, signInNextRound } from "./sign-purchases.ts";
import { createSimulator } from "./simulate.ts";
import { allRelayersSuspended, forgetLease, nextRelayerWallets, type Wallet } from "./wallets.ts";

/** Most purchases that are read together. */
const ROUND = 50;
/** A purchase that could not be signed is tried again after this time, in seconds. */
const RETRY_SECONDS = 1;
/** How long a buyer's lack of funds is doubted, in ms, on a chain without a new block. */
const DOUBT_MS = 5000;
/** Most purchases whose buyers lacked funds at the first look. */
const MAX_DOUBTED = 10_000;
/** How old a relayer's balance may be, in ms: the ledger counts what its pending transactions may cost. */
const BALANCE_TTL_MS = 1000;

export type RelayOptions = ChainContext & {
  coverRouter: Address;
  budgets: Omit<Limits, "balance">;
  /** The newest block that the writer has read; undefined before the first. */
  headNumber: () => bigint | undefined;
  /** Called when transactions are sent: the next blocks are then read at shorter intervals. */
  onSent: () => void;
};

export const createRelayContext = (options: RelayOptions) => ({
  ...options,
  /** Reads purchases that wait to be signed, several in one statement. */
  readInBatch: createBatcher((ids: string[]) => readWaiting(options.sql, options.chainId, ids), ROUND),
  /** Gas that a purchase's call needs. Rejects with the contract's revert. */
  simulate: createSimulator(options.chain),
  /** When a buyer's lack of funds was first seen, by `performance.now()`, and at which head; by the purchase's id. */
  doubted: new LRUCache<string, { at: number; head: bigint | undefined }>({ max: MAX_DOUBTED }),
  balanceOf: shareReadBy(BALANCE_TTL_MS, (address: Address) => options.chain.balance(address)),
  /** The signing rounds of each wallet, which follow each other. */
  rounds: new WeakMap<Wallet, (purchase: PurchaseCall) => Promise<SigningResult>>(),
});

export type RelayContext = ReturnType<typeof createRelayContext>;

/**
 * Takes a purchase from `accepted` to `broadcast`: simulates it, gives it a nonce, stores its signed bytes, sends them.
 * It may be called any number of times for the same purchase, also concurrently: a purchase that no longer waits to be
 * signed is left alone. Rejects when the database is down; the sweeper then finds the row.
 */
export async function relayPurchase(context: RelayContext, id: string): Promise<void> {
  const { sql, wallets, meter, coverRouter } = context;
  const purchase = (await context.readInBatch(id)).get(id);
  if (!purchase) return;
  meter.read(id, purchase.age);
  const { age, unknownFor } = purchase;
  if (unknownFor !== null) {
    // One that was accepted before may be among them, and must not fail.
    const fails = age > SIGN_WITHIN_SECONDS && age < unknownFor;
    return fails
      ? refuse(context, id, failures.transactionsUnknown)
      : retryLater(context, id, new NoncesWithheld());
  }
  if (age > SIGN_WITHIN_SECONDS) return expirePurchase(context, id);
  const candidates = nextRelayerWallets(wallets);
  if (candidates.length === 0) {
    // Without a delay, another writer's sweeper takes it at once.
    return lookAgainIn(sql, [id], allRelayersSuspended(wallets) ? RETRY_SECONDS : 0);
  }
  const data = purchaseCalldata(purchase.request);
  const able = await findAbleWallet(context, id, candidates, data);
  if (!able) return;
  meter.simulated(id);
  const { wallet, gasLimit } = able;
  try {
    const call = await context.price({ to: coverRouter, data, value: 0n, gasLimit });
    const { choice, broadcasts } = await signInNextRound(context, wallet, { id, call });
    const refused = choice.refuse.find((one) => one.id === id);
    if (refused) return failPurchase(context, id, refused.failure);
    if (choice.wait.includes(id)) return retryLater(context, id, choice.walletFault);
    await broadcasts.get(id);
  } catch (error) {
    if (!(error instanceof LeaseLost)) return retryLater(context, id, error);
    forgetLease(wallets, error.lease);
    await retryLater(context, id, error, 0);
  }
}

/**
 * Simulates the purchase from one wallet after the other. Returns the first wallet that can buy, with the gas limit;
 * undefined when the purchase failed or is to be tried again.
 */
async function findAbleWallet(
  context: RelayContext,
  id: string,
  candidates: readonly Wallet[],
  data: Call["data"],
): Promise<{ wallet: Wallet; gasLimit: bigint } | undefined> {
  const { sql, chainId, coverRouter: to } = context;
  let revert: Revert | undefined;
  for (const wallet of candidates) {
    try {
      const gas = await context.simulate({ from: wallet.address, to, data });
      return { wallet, gasLimit: withMargin(gas) };
    } catch (error) {
      revert = findRevert(error);
      if (!revert) {
        await retryLater(context, id, error);
        return undefined;
      }
      // Every other reason concerns the purchase itself: another wallet would fail too.
      if (revert.name === "NotAuthorizedRelayer") continue;
      if (failures.isBuyersRevert(revert) && isDoubtful(context, id)) {
        await retryLater(context, id, `${revert.text}; the node may be behind`);
        return undefined;
      }
      await failPurchase(context, id, failures.simulatedFailure(revert));
      return undefined;
    }
  }
  // A suspended wallet, or one of another writer, may be on the allowlist.
  const tried = candidates.map(({ address }) => address);
  if (revert && !(await hasOtherRelayers(sql, chainId, tried))) {
    await failPurchase(context, id, failures.simulatedFailure(revert));
  } else {
    await retryLater(context, id, "no available wallet is on the allowlist");
  }
  return undefined;
}

/**
 * Fails a purchase, unless the chain has transactions that the ledger lacks: it may have bought already, and fail for that
 * reason.
 */
async function failPurchase(context: RelayContext, id: string, failure: failures.Failure): Promise<void> {
  const unknown = await compareNonces(context).catch((error: unknown) => errorText(error));
  if (unknown !== false) return retryLater(context, id, unknown === true ? new NoncesWithheld() : unknown);
  await refuse(context, id, failure);
}

/**
 * Whether a buyer's lack of funds is not certain yet: an approval may just have been mined, and the writer's node may be a
 * block behind the api's. It is looked at again at the next head.
 */
function isDoubtful({ doubted, headNumber }: RelayContext, id: string): boolean {
  const first = doubted.get(id) ?? { at: performance.now(), head: headNumber() };
  doubted.set(id, first);
  return headNumber() === first.head && performance.now() - first.at < DOUBT_MS;
}

async function refuse(
  { sql, meter, log }: RelayContext,
  id: string,
  failure: failures.Failure,
): Promise<void> {
  if (!(await refusePurchase(sql, id, failure))) return;
  meter.refused(id);
  log.info({ purchase: id, ...failure }, "a purchase failed");
}

/** Fails a purchase that was not signed in time, with the reason as far as it is known. */
async function expirePurchase(context: RelayContext, id: string): Promise<void> {
  const chainAnswers = await context.market.now().then(
    () => true,
    () => false,
  );
  if (!chainAnswers) return refuse(context, id, failures.chainNotAnswering);
  const failure = allRelayersSuspended(context.wallets)
    ? failures.noRelayerCouldPay
    : failures.notSignedInTime;
  await failPurchase(context, id, failure);
}

async function retryLater(
  { sql, log }: RelayContext,
  id: string,
  reason: unknown,
  seconds = RETRY_SECONDS,
): Promise<void> {
  log.warn({ purchase: id, reason: errorText(reason) }, "a purchase has to wait");
  await lookAgainIn(sql, [id], seconds);
}
