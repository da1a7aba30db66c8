/** The keeper as the operator sees it: work that has failed, and times in which no keeper was at work. */
import type { ISql } from "postgres";

export type FailedTask = {
  chainId: number;
  purpose: "trigger" | "expire" | "queue";
  /** Empty for the redemption queue. */
  productId: string;
  /** A decimal; of the redemption queue the entry's id. */
  policyId: string;
  failures: number;
  failure: string;
  /** Seconds; below zero when it is tried at the next look. */
  again: number;
};

/** Of the work that has failed and was not done since, what failed most often. */
export const failedTasks = (sql: ISql, limit: number): Promise<FailedTask[]> =>
  sql<FailedTask[]>`
    select chain_id as "chainId", purpose, product_id as "productId", policy_id as "policyId", failures, failure,
      extract(epoch from retry_at - now())::float8 as again
    from service.keeper_task where failures > 0 and service_transaction_id is null
    order by failures desc, retry_at desc limit ${limit}`;

/** An absence, in the time of the chain's blocks (Unix seconds, decimals); `to` is null for one that lasts. */
export type Absence = { chainId: number; from: string; to: string | null };

/** The latest times in which no keeper was at work, newest first. */
export const keeperAbsences = (sql: ISql, limit: number): Promise<Absence[]> =>
  sql<Absence[]>`
    select chain_id as "chainId", until::text as from, next::text as to from (
      select chain_id, until, seen_at, lead(since) over (partition by chain_id order by since) as next
      from service.keeper_watch) w
    where next is not null or seen_at < now() - interval '60 seconds'
    order by until desc limit ${limit}`;

/** Whether a keeper was ever at work. */
export async function hasKeeper(sql: ISql): Promise<boolean> {
  return (await sql`select 1 from service.keeper_watch limit 1`).length > 0;
}
