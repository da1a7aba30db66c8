import type { Sql } from "postgres";
import { formatEther, formatGwei } from "viem";
import { purchaseHistory } from "../../lib/ledger/history.ts";
import { printTable } from "./print.ts";

const at = (time: string | null) => (time === null ? "never" : new Date(time).toISOString());

/** Prints everything of one purchase: its row, its transactions, each of their signed forms. False when there is none. */
export async function showPurchase(sql: Sql, id: string): Promise<boolean> {
  const history = await purchaseHistory(sql, id);
  if (!history) return false;
  const fields = Object.entries(history.purchase).filter(([, value]) => value !== null);
  printTable(
    `Purchase ${id}`,
    ["column", "value"],
    fields.map(([column, value]) => [column, `${value}`]),
  );
  if (history.transactions.length === 0) console.log("\nNothing of it was ever signed.");
  for (const { wallet, nonce, state, createdAt, gasCost, attempts } of history.transactions) {
    const cost = gasCost === null ? "" : `, gas ${formatEther(BigInt(gasCost))} ETH`;
    printTable(
      `Transaction of nonce ${nonce} from ${wallet}: ${state}${cost}, made ${at(createdAt)}`,
      ["hash", "does", "max fee gwei", "priority gwei", "lease", "signed", "last sent"],
      attempts.map((attempt) => [
        attempt.hash,
        attempt.cancels ? "cancels" : "buys",
        formatGwei(BigInt(attempt.maxFee)),
        formatGwei(BigInt(attempt.priorityFee)),
        attempt.fencingToken,
        at(attempt.createdAt),
        at(attempt.lastBroadcastAt),
      ]),
    );
  }
  return true;
}
