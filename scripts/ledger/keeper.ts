/** What `npm run ledger` shows of the keeper: work that has failed, and times in which no keeper was at work. */
import type { Sql } from "postgres";
import { failedTasks, hasKeeper, keeperAbsences } from "../../lib/ledger/keeper-tasks.ts";
import { duration, printTable } from "./format.ts";

const iso = (seconds: string): string => new Date(Number(seconds) * 1000).toISOString();

/** Prints the keeper's failed work and absences, at most `limit` of each; nothing where no keeper was ever at work. */
export async function printKeeper(sql: Sql, limit: number): Promise<void> {
  if (!(await hasKeeper(sql))) return;
  const [failed, away] = await Promise.all([failedTasks(sql, limit), keeperAbsences(sql, limit)]);
  printTable(
    "The keeper's work that has failed",
    ["chain", "purpose", "product", "policy", "failures", "again in", "reason"],
    failed.map((task) => [
      String(task.chainId),
      task.purpose,
      task.productId === "" ? "–" : task.productId,
      task.policyId,
      String(task.failures),
      duration(task.again),
      task.failure,
    ]),
  );
  printTable(
    "No keeper was at work (as --down of npm run keeper -- audit)",
    ["chain", "downtime"],
    away.map(({ chainId, from, to }) => [
      String(chainId),
      `${iso(from)}..${to === null ? new Date().toISOString() : iso(to)}`,
    ]),
  );
}
