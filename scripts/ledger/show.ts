import type { Sql } from "postgres";
import { formatEther, formatGwei } from "viem";
import { type EntryHistory, entryHistory } from "./history.ts";
import { printTable } from "./print.ts";

const at = (time: string | null) => (time === null ? "never" : new Date(time).toISOString());

const titles = { purchase: "Purchase", errand: "Errand", claim: "Claim of the faucet" } as const;
/** What a signed form does that is not there to take the nonce away. */
const deeds = { purchase: "buys", errand: "does it", claim: "does it" } as const;

function print({ kind, id, fields, transactions, errands }: EntryHistory): void {
  printTable(
    `${titles[kind]} ${id}`,
    ["column", "value"],
    Object.entries(fields).flatMap(([column, value]) => (value === null ? [] : [[column, value]])),
  );
  if (kind !== "claim" && transactions.length === 0) console.log("\nNothing of it was ever signed.");
  for (const { wallet, nonce, state, createdAt, gasCost, attempts } of transactions) {
    const cost = gasCost === null ? "" : `, gas ${formatEther(BigInt(gasCost))} ETH`;
    printTable(
      `Transaction of nonce ${nonce} from ${wallet}: ${state}${cost}, made ${at(createdAt)}`,
      ["hash", "does", "max fee gwei", "priority gwei", "lease", "signed", "last sent"],
      attempts.map((attempt) => [
        attempt.hash,
        attempt.cancels ? "cancels" : deeds[kind],
        formatGwei(BigInt(attempt.maxFee)),
        formatGwei(BigInt(attempt.priorityFee)),
        attempt.fencingToken,
        at(attempt.createdAt),
        at(attempt.lastBroadcastAt),
      ]),
    );
  }
  for (const errand of errands) print(errand);
}

/**
 * Prints everything of one purchase, errand or claim: its row, its transactions, each of their signed forms; of a claim
 * that of its two errands. False when there is none.
 */
export async function showEntry(sql: Sql, id: string): Promise<boolean> {
  const history = await entryHistory(sql, id);
  if (history) print(history);
  return history !== undefined;
}
