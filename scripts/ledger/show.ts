import type { Sql } from "postgres";
import { formatEther, formatGwei } from "viem";
import { type EntryHistory, entryHistory } from "./entry-history.ts";
import { printTable } from "./format.ts";

const at = (time: string | null) => (time === null ? "never" : new Date(time).toISOString());

const titles = {
  purchase: "Purchase",
  service_transaction: "Service transaction",
  claim: "Faucet claim",
} as const;
/** The effect of an attempt that does not cancel. */
const effects = { purchase: "buys", permit: "sets the allowance", service_transaction: "executes" } as const;

function print({ kind, id, fields, transactions, serviceTransactions }: EntryHistory): void {
  printTable(
    `${titles[kind]} ${id}`,
    ["column", "value"],
    Object.entries(fields).flatMap(([column, value]) => (value === null ? [] : [[column, value]])),
  );
  if (kind !== "claim" && transactions.length === 0) console.log("\nNo transaction of it was ever signed.");
  for (const { kind: of, wallet, nonce, state, createdAt, gasCost, attempts } of transactions) {
    const cost = gasCost === null ? "" : `, gas ${formatEther(BigInt(gasCost))} ETH`;
    printTable(
      `Transaction with nonce ${nonce} from ${wallet}: ${state}${cost}, created ${at(createdAt)}`,
      ["hash", "effect", "max fee gwei", "priority gwei", "lease", "signed", "last sent"],
      attempts.map((attempt) => [
        attempt.hash,
        attempt.cancels ? "cancels" : effects[of],
        formatGwei(BigInt(attempt.maxFee)),
        formatGwei(BigInt(attempt.priorityFee)),
        attempt.fencingToken,
        at(attempt.createdAt),
        at(attempt.lastBroadcastAt),
      ]),
    );
  }
  for (const serviceTransaction of serviceTransactions) print(serviceTransaction);
}

/**
 * Prints one purchase, service transaction or claim: its row, its transactions and their attempts; for a claim also its two service transactions.
 * @returns false when the id is unknown.
 */
export async function showEntry(sql: Sql, id: string): Promise<boolean> {
  const history = await entryHistory(sql, id);
  if (history) print(history);
  return history !== undefined;
}
