import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import { isConnectionError } from "../../lib/db/connect.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { OwnTransaction } from "../ledger/open.ts";
import { type Outcome, type SettledPurchase, settle } from "../ledger/settled.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Chain, Receipt } from "./chain.ts";
import { outcomeOf } from "./outcome.ts";

export type SettlerOptions = {
  sql: Sql;
  chain: Pick<Chain, "call">;
  coverRouter: Address;
  meter: Meter;
  log: Logger;
};

/** Writes receipts of our transactions down, whoever found them. Twice is as good as once. */
export function createSettler({ sql, chain, coverRouter, meter, log }: SettlerOptions) {
  /** The reason of a revert, by the same call in the state after its block; undefined when that gives none. */
  async function reasonOf(own: OwnTransaction, receipt: Receipt): Promise<Revert | undefined> {
    const { wallet: from, to, data, value, gasLimit: gas } = own;
    try {
      await chain.call({ from, to, data, value, gas }, receipt.blockNumber);
    } catch (error) {
      const revert = findRevert(error);
      if (!revert) log.warn({ hash: receipt.hash, error: errorText(error) }, "no reason for a revert");
      return revert;
    }
    return undefined;
  }

  /** Writes outcomes down together; when the ledger refuses them, each by itself, so that one cannot hold up the others. */
  async function write(outcomes: readonly Outcome[]): Promise<SettledPurchase[]> {
    try {
      return await settle(sql, outcomes);
    } catch (error) {
      if (isConnectionError(error)) throw error;
      if (outcomes.length > 1) {
        const settled: SettledPurchase[] = [];
        for (const outcome of outcomes) settled.push(...(await write([outcome])));
        return settled;
      }
      // The purchase stays on its way, and the recovery comes back to it.
      const hashes = outcomes.map(({ hash }) => hash);
      log.error({ hashes, error: errorText(error) }, "an outcome cannot be written down");
      return [];
    }
  }

  return async function settleReceipts(own: readonly OwnTransaction[], receipts: readonly Receipt[]) {
    const byHash = new Map<Hex, OwnTransaction>(own.map((transaction) => [transaction.hash, transaction]));
    const outcomes = await Promise.all(
      receipts.flatMap((receipt) => {
        const transaction = byHash.get(receipt.hash);
        if (!transaction) return [];
        const asksWhy = !receipt.succeeded && transaction.kind !== "filler" && !transaction.cancels;
        const reason = asksWhy ? reasonOf(transaction, receipt) : Promise.resolve(undefined);
        return [reason.then((revert) => outcomeOf(transaction, receipt, coverRouter, revert))];
      }),
    );
    const settled = await write(outcomes);
    meter.settled(outcomes.map(({ hash }) => hash));
    if (settled.length === 0) return;
    log.info({ purchases: settled.length }, "settled purchases");
    // Each counts when its outcome is written down for the first time, or anew after a reorganisation.
    const costs = new Map(receipts.map(({ hash, gasCost }) => [hash, gasCost]));
    for (const { kind, keyId, hash } of settled) meter.ended(kind, keyId, costs.get(hash) ?? 0n);
  };
}

export type SettleReceipts = ReturnType<typeof createSettler>;
