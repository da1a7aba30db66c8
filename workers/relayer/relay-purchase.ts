import { LRUCache } from "lru-cache";
import type { Address } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import type { Revert } from "../../lib/chain/reverts.ts";
import { errorText } from "../../lib/log.ts";
import { shareReadBy } from "../../lib/shared-read.ts";
import { NoncesWithheld } from "../ledger/assign-nonces.ts";
import { hasOtherRelayers, LeaseLost } from "../ledger/leases.ts";
import { mayHaveUnknown } from "../ledger/unknown-transactions.ts";
import {
  lookAgainIn,
  readWaiting,
  refusePurchase,
  SIGN_WITHIN_SECONDS,
  type WaitingPurchase,
} from "../ledger/waiting.ts";
import type { ChainContext } from "./chain-context.ts";
import type { Limits, SigningOutcome, SigningOutcomes } from "./choose-purchases.ts";
import { compareNonces } from "./compare-nonces.ts";
import type { SaleContracts } from "./purchase-calls.ts";
import * as failures from "./purchase-failures.ts";
import { signInNextRound } from "./sign-purchases.ts";
import { createRoundSimulator } from "./simulate-round.ts";
import { allRelayersSuspended, forgetLease, nextRelayerWallets, type Wallet } from "./wallets.ts";

/** Most purchases that are read together. */
const ROUND = 50;
/** A purchase that could not be signed is tried again after this time, in seconds. */
const RETRY_SECONDS = 1;
/** How long a failure is doubted, in ms, on a chain without a new block. */
const DOUBT_MS = 5000;
/** Most purchases whose failures are doubted. */
const MAX_DOUBTED = 10_000;
/** How old a relayer's balance may be, in ms: the ledger counts what its pending transactions may cost. */
const BALANCE_TTL_MS = 1000;

export type RelayOptions = ChainContext &
  SaleContracts & {
    budgets: Omit<Limits, "balance">;
    /** The newest block that the writer has read; undefined before the first. */
    headNumber: () => bigint | undefined;
  };

export const createRelayContext = (options: RelayOptions) => ({
  ...options,
  /** Reads purchases that wait to be signed, several in one statement. */
  readInBatch: createBatcher((ids: string[]) => readWaiting(options.sql, options.chainId, ids), ROUND),
  simulateRound: createRoundSimulator(options),
  /** When a doubted failure was first seen, by `performance.now()`, and at which head; by the purchase's id. */
  doubted: new LRUCache<string, { at: number; head: bigint | undefined }>({ max: MAX_DOUBTED }),
  balanceOf: shareReadBy(BALANCE_TTL_MS, (address: Address) => options.chain.balance(address)),
  /** The signing rounds of each wallet, which follow each other. */
  rounds: new WeakMap<Wallet, (purchase: WaitingPurchase) => Promise<SigningOutcomes>>(),
});

export type RelayContext = ReturnType<typeof createRelayContext>;

/**
 * Takes a purchase from `accepted` to `broadcast`, in a round with others: simulates them, gives them nonces, stores their
 * signed bytes, sends them. It may be called any number of times for the same purchase, also concurrently: a purchase that no
 * longer waits to be signed is left alone. Rejects when the database is down; the sweeper then finds the row.
 */
export async function relayPurchase(context: RelayContext, id: string): Promise<void> {
  const { sql, chainId, wallets, meter } = context;
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
  if (purchase.permit?.state === "open") return retryLater(context, id, "its permit is not mined yet");
  const candidates = nextRelayerWallets(wallets);
  if (candidates.length === 0) {
    // Without a delay, another writer's sweeper takes it at once.
    return lookAgainIn(sql, [id], allRelayersSuspended(wallets) ? RETRY_SECONDS : 0);
  }
  let revert: Revert | undefined;
  for (const wallet of candidates) {
    const outcome = await signInNextRound(context, wallet, purchase).catch(
      (reason: unknown): SigningOutcome => ({ kind: "waits", reason }),
    );
    // Every other reason concerns the purchase itself: another wallet would fail too.
    if (outcome.kind !== "reverts" || outcome.revert.name !== "NotAuthorizedRelayer") {
      return finishRound(context, id, outcome);
    }
    revert = outcome.revert;
  }
  // A suspended wallet, or one of another writer, may be on the allowlist.
  const tried = candidates.map(({ address }) => address);
  if (revert && !(await hasOtherRelayers(sql, chainId, tried))) {
    return failPurchase(context, id, failures.simulatedFailure(revert));
  }
  await retryLater(context, id, "no available wallet is on the allowlist");
}

/** What follows from a signing round for a purchase. Rejects when the database is down. */
async function finishRound(context: RelayContext, id: string, outcome: SigningOutcome): Promise<void> {
  switch (outcome.kind) {
    case "taken":
      return;
    case "sent":
      // It is stored, and sent again after any fault.
      return outcome.broadcast.catch((error: unknown) => retryLater(context, id, error));
    case "permit_sent":
      return outcome.broadcast.then(
        () => retryLater(context, id, "its permit is sent before it"),
        (error: unknown) => retryLater(context, id, error),
      );
    case "refused":
      return failPurchase(context, id, outcome.failure);
    case "premium_risen":
      return failOnceConfirmed(context, id, failures.premiumRisen(outcome.quoted, outcome.premium));
    case "reverts": {
      const fail = failures.isBuyersRevert(outcome.revert) ? failOnceConfirmed : failPurchase;
      return fail(context, id, failures.simulatedFailure(outcome.revert));
    }
    case "waits": {
      const { reason } = outcome;
      if (!(reason instanceof LeaseLost)) return retryLater(context, id, reason);
      forgetLease(context.wallets, reason.lease);
      return retryLater(context, id, reason, 0);
    }
  }
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
 * Fails a purchase once the next head shows the failure too: an approval or a lower premium may just have been mined, and the
 * writer's node may be a block behind the api's.
 */
async function failOnceConfirmed(
  context: RelayContext,
  id: string,
  failure: failures.Failure,
): Promise<void> {
  const { doubted, headNumber } = context;
  const first = doubted.get(id) ?? { at: performance.now(), head: headNumber() };
  doubted.set(id, first);
  const isDoubtful = headNumber() === first.head && performance.now() - first.at < DOUBT_MS;
  if (isDoubtful) return retryLater(context, id, `${failure.message} The node may be behind.`);
  await failPurchase(context, id, failure);
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
  if (!chainAnswers) {
    // A writer may have sent it with a nonce that the database has lost.
    return (await mayHaveUnknown(context.sql, context.chainId))
      ? retryLater(context, id, new NoncesWithheld())
      : refuse(context, id, failures.chainNotAnswering);
  }
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
