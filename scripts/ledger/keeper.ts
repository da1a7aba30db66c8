/** What `npm run ledger` shows of the keeper: work that has failed, and times in which no keeper was at work. */
import type { Sql } from "postgres";
import { duration, printTable } from "./format.ts";

type FailedTask = {
  chainId: number;
  purpose: string;
  productId: string;
  policyId: string;
  failures: number;
  failure: string;
  /** Seconds; below zero when it is tried at the next look. */
  again: number;
};

/** Of the newest work that has failed and was not done since. */
const failedTasks = (sql: Sql, limit: number): Promise<FailedTask[]> =>
  sql<FailedTask[]>`
    select chain_id as "chainId", purpose, product_id as "productId", policy_id as "policyId", failures, failure,
      extract(epoch from retry_at - now())::float8 as again
    from service.keeper_task where failures > 0 and service_transaction_id is null
    order by failures desc, retry_at desc limit ${limit}`;

/** An absence, in the time of the chain's blocks (Unix seconds); `to` is null for one that lasts. */
type Absence = { chainId: number; from: string; to: string | null };

const absences = (sql: Sql, limit: number): Promise<Absence[]> =>
  sql<Absence[]>`
    select chain_id as "chainId", until::text as from, next::text as to from (
      select chain_id, until, seen_at, lead(since) over (partition by chain_id order by since) as next
      from service.keeper_watch) w
    where next is not null or seen_at < now() - interval '60 seconds'
    order by until desc limit ${limit}`;

const iso = (seconds: string): string => new Date(Number(seconds) * 1000).toISOString();

/** Prints the keeper's failed work and absences, at most `limit` of each; nothing where no keeper was ever at work. */
export async function printKeeper(sql: Sql, limit: number): Promise<void> {
  const watched = await sql`select 1 from service.keeper_watch limit 1`;
  if (watched.length === 0) return;
  const [failed, away] = await Promise.all([failedTasks(sql, limit), absences(sql, limit)]);
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
