/** What `npm run ledger` shows of the keeper: work that has failed, and times in which no keeper was at work. */
import type { Sql } from "postgres";
import { absences, failedTasks, keeperChains } from "../../lib/ledger/keeper-tasks.ts";
import { duration, printTable } from "./format.ts";

const iso = (seconds: string): string => new Date(Number(seconds) * 1000).toISOString();

/** Prints the keeper's failed work and absences, at most `limit` of each; nothing where no keeper was ever at work. */
export async function printKeeper(sql: Sql, limit: number): Promise<void> {
  const chains = await keeperChains(sql);
  if (chains.length === 0) return;
  const failed: string[][] = [];
  const away: string[][] = [];
  for (const chainId of chains) {
    for (const task of await failedTasks(sql, chainId, { limit })) {
      failed.push([
        String(chainId),
        task.purpose,
        task.productId === "" ? "–" : task.productId,
        task.policyId,
        String(task.failures),
        duration((task.retryAt.getTime() - Date.now()) / 1000),
        task.failure,
      ]);
    }
    for (const { from, to } of await absences(sql, chainId, limit)) {
      away.push([String(chainId), `${iso(from)}..${to === null ? new Date().toISOString() : iso(to)}`]);
    }
  }
  printTable(
    "The keeper's work that has failed",
    ["chain", "purpose", "product", "policy", "failures", "again in", "reason"],
    failed,
  );
  printTable("No keeper was at work (as --down of npm run keeper -- audit)", ["chain", "downtime"], away);
}
