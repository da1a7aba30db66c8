import type { Sql } from "postgres";
import type { Address } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import { withMargin } from "../../lib/ledger/gas.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { shareReadBy } from "../../lib/shared-read.ts";
import { type AcceptedPurchase, failUnsigned, readAccepted, tryAgainIn } from "../ledger/accepted.ts";
import { hasOtherRelayers, LeaseLost } from "../ledger/leases.ts";
import { type Call, SIGN_WITHIN_SECONDS, signPurchases } from "../ledger/signed.ts";
import type { Candidate, Spending } from "../ledger/spending.ts";
import type { Meter } from "../metrics/meter.ts";
import type { SendAnswer } from "./answers.ts";
import type { Chain } from "./chain.ts";
import { type Choice, choose, type Limits } from "./choose.ts";
import { chainSilent, type Failure, neverSigned, relayersFull, simulatedFailure } from "./failures.ts";
import { initialFees } from "./fees.ts";
import type { MarketSource } from "./market.ts";
import { purchaseCalldata } from "./purchase-call.ts";
import type { Send } from "./sender.ts";
import { signCall } from "./sign.ts";
import { createSimulator } from "./simulate.ts";
import type { Wallet, Wallets } from "./wallets.ts";

/** Purchases that are read or signed together. */
const ROUND = 50;
/** A purchase that could not be signed now is tried again so many seconds later. */
const RETRY_SECONDS = 1;

export type RelayOptions = {
  sql: Sql;
  chain: Pick<Chain, "estimateGas" | "call" | "balance">;
  chainId: number;
  coverRouter: Address;
  market: MarketSource;
  wallets: Wallets;
  send: Send;
  /** The most that a gas may cost, in wei. */
  maxFee: bigint;
  budgets: Omit<Limits, "balance">;
  /** Bytes are on their way: the next blocks are worth watching closely. */
  onSent: () => void;
  meter: Meter;
  log: Logger;
};

/** How old a relayer's balance may be, in ms: what is on its way is counted by the ledger. */
const BALANCE_TTL_MS = 1000;

/** Gas is too dear: nothing was signed, and the purchase waits. */
class NotNow extends Error {}

/** What became of the purchases of a round; `sent` has the node's answers for those that were signed. */
type Round = { choice: Choice; sent: Map<string, Promise<SendAnswer>> };

/**
 * Takes a purchase from `accepted` to `broadcast`: simulates it, gives it a nonce, stores its signed bytes, sends them.
 * It may be called any number of times for the same purchase, at the same moment too: a row that has moved on is left
 * alone. Rejects when the database is away; the sweeper then finds the row.
 */
export function createRelay(options: RelayOptions) {
  const { sql, chain, chainId, coverRouter, market, wallets, send, maxFee, budgets, onSent, meter, log } =
    options;
  const balanceOf = shareReadBy(BALANCE_TTL_MS, (address: Address) => chain.balance(address));
  const gasOf = createSimulator(chain);
  const read = createBatcher((ids: string[]) => readAccepted(sql, chainId, ids), ROUND);

  async function signAndSend(wallet: Wallet, calls: Map<string, Call>): Promise<Round> {
    meter.signing([...calls.keys()]);
    const [now, balance] = await Promise.all([market.now(), balanceOf(wallet.address)]);
    const fees = initialFees(now, maxFee);
    if (!fees) throw new NotNow("gas costs more than the cap");
    const costs = new Map([...calls].map(([id, { gasLimit }]) => [id, gasLimit * fees.maxFee]));
    const { choice, signed } = await signPurchases(sql, {
      lease: wallet.lease,
      calls,
      choose: (candidates: readonly Candidate[], spending: Spending) =>
        choose(candidates, costs, spending, { ...budgets, balance }),
      sign: (nonce, call) => signCall(wallet, nonce, call, fees),
    });
    meter.signed(signed);
    if (signed.length > 0) onSent();
    if (choice.full !== undefined) wallets.rest(wallet, choice.full);
    else if (signed.length > 0) wallets.works(wallet);
    // In the order of the nonces, and without waiting: the next round may sign meanwhile.
    return { choice, sent: new Map(signed.map((one) => [one.id, send(one.signed)])) };
  }

  type Item = { id: string; call: Call };
  const newSigner = (wallet: Wallet) =>
    createBatcher(
      (items: Item[]) => signAndSend(wallet, new Map(items.map(({ id, call }) => [id, call]))),
      ROUND,
    );
  const signers = new WeakMap<Wallet, ReturnType<typeof newSigner>>();
  function signerOf(wallet: Wallet) {
    const signer = signers.get(wallet) ?? newSigner(wallet);
    signers.set(wallet, signer);
    return signer;
  }

  async function fail(id: string, failure: Failure): Promise<void> {
    if (!(await failUnsigned(sql, id, failure))) return;
    meter.refused(id);
    log.info({ purchase: id, ...failure }, "a purchase failed");
  }

  async function expire(id: string): Promise<void> {
    const chainAnswers = await market.now().then(
      () => true,
      () => false,
    );
    if (!chainAnswers) return fail(id, chainSilent);
    await fail(id, wallets.allRest() ? relayersFull : neverSigned);
  }

  /** A wallet that can buy, with the gas limit; undefined when the purchase failed or is to be tried again. */
  async function simulate(
    { id }: AcceptedPurchase,
    candidates: readonly Wallet[],
    data: Call["data"],
  ): Promise<{ wallet: Wallet; gasLimit: bigint } | undefined> {
    let refusal: Revert | undefined;
    for (const wallet of candidates) {
      try {
        const gas = await gasOf({ from: wallet.address, to: coverRouter, data });
        return { wallet, gasLimit: withMargin(gas) };
      } catch (error) {
        refusal = findRevert(error);
        if (!refusal) {
          await later(id, error);
          return undefined;
        }
        // Every other reason is the purchase's own, whoever sends it.
        if (refusal.name === "NotAuthorizedRelayer") continue;
        await fail(id, simulatedFailure(refusal));
        return undefined;
      }
    }
    // A wallet that rests, or another writer's, may be on the allowlist.
    const asked = candidates.map(({ address }) => address);
    if (refusal && !(await hasOtherRelayers(sql, chainId, asked))) await fail(id, simulatedFailure(refusal));
    else await later(id, "no wallet at hand is on the allowlist");
    return undefined;
  }

  async function later(id: string, reason: unknown, seconds = RETRY_SECONDS): Promise<void> {
    log.warn({ purchase: id, reason: errorText(reason) }, "a purchase has to wait");
    await tryAgainIn(sql, id, seconds);
  }

  return async function relay(id: string): Promise<void> {
    const purchase = (await read(id)).get(id);
    if (!purchase) return;
    meter.read(id, purchase.age);
    if (purchase.age > SIGN_WITHIN_SECONDS) return expire(id);
    const candidates = wallets.inTurn();
    // Another writer's sweeper may take it at once.
    if (candidates.length === 0) return tryAgainIn(sql, id, wallets.allRest() ? RETRY_SECONDS : 0);

    const data = purchaseCalldata(purchase.request);
    const able = await simulate(purchase, candidates, data);
    if (!able) return;
    meter.simulated(id);
    const { wallet, gasLimit } = able;
    try {
      const { choice, sent } = await signerOf(wallet)({
        id,
        call: { to: coverRouter, data, value: 0n, gasLimit },
      });
      const refused = choice.refuse.find((one) => one.id === id);
      if (refused) return fail(id, refused.failure);
      if (choice.wait.includes(id)) return later(id, choice.full);
      await sent.get(id);
    } catch (error) {
      if (!(error instanceof LeaseLost)) return later(id, error);
      wallets.lost(error.lease);
      await later(id, error, 0);
    }
  };
}

export type Relay = ReturnType<typeof createRelay>;
