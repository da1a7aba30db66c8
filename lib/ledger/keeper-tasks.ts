/** What the keeper could not do: work that has failed, times in which no keeper was at work, and what the audit has counted. */
import type { Sql } from "postgres";
import type { KeeperPurpose } from "./kinds.ts";

/** A policy that has failed this often in a row is set aside: the operator is told, and it is still tried. */
export const SET_ASIDE_AFTER = 5;

/** Work that has failed and is not under way again. */
export type FailedTask = {
  purpose: KeeperPurpose;
  /** Empty for the redemption queue. */
  productId: string;
  /** A decimal; of the redemption queue, the entry's id. */
  policyId: string;
  /** Failures in a row. */
  failures: number;
  failure: string;
  /** When it is tried again; in the past: at the next look. */
  retryAt: Date;
};

/** The place of a task in the list of all. */
export type TaskPosition = Pick<FailedTask, "failures" | "purpose" | "productId" | "policyId">;

/** The work of a chain's keeper that has failed, after a position, the most failures first. */
export async function failedTasks(
  sql: Sql,
  chainId: number,
  { limit, after }: { limit: number; after?: TaskPosition | undefined },
): Promise<FailedTask[]> {
  const below = after
    ? sql`and (failures, purpose, product_id, policy_id)
        < (${after.failures}, ${after.purpose}, ${after.productId}, ${after.policyId}::numeric)`
    : sql``;
  return sql<FailedTask[]>`
    select purpose, product_id as "productId", policy_id::text as "policyId", failures, failure, retry_at as "retryAt"
    from service.keeper_task k
    where chain_id = ${chainId} and failures > 0 and service_transaction_id is null ${below}
    order by k.failures desc, k.purpose desc, k.product_id desc, k.policy_id desc limit ${limit}`;
}

/** An absence, in the time of the chain's blocks (Unix seconds); `to` is null for one that lasts. */
export type Absence = { from: string; to: string | null };

/** The newest times in which no keeper of a chain was at work, newest first. */
export async function absences(sql: Sql, chainId: number, limit: number): Promise<Absence[]> {
  return sql<Absence[]>`
    select until::text as from, next::text as to from (
      select since, until, seen_at, lag(since) over (order by since desc) as next from (
        select * from service.keeper_watch where chain_id = ${chainId} order by since desc limit ${limit + 1}) w) w
    where next is not null or seen_at < now() - interval '60 seconds'
    order by since desc limit ${limit}`;
}

/** The chains on which a keeper was ever at work. */
export async function keeperChains(sql: Sql): Promise<number[]> {
  const rows = await sql<{ chainId: number }[]>`
    select distinct chain_id as "chainId" from service.keeper_watch order by 1`;
  return rows.map(({ chainId }) => chainId);
}

/** The counts of the running audit since its first start; the numbers are decimals. */
export type AuditCounts = {
  auditedTo: string;
  missed: string;
  missedWhileDown: string;
  refused: string;
  neverPayable: Record<string, number>;
};

/** Undefined before the first round of the audit. */
export async function auditCounts(sql: Sql, chainId: number): Promise<AuditCounts | undefined> {
  const [row] = await sql<AuditCounts[]>`
    select audited_to::text as "auditedTo", missed::text, missed_while_down::text as "missedWhileDown", refused::text,
      never_payable as "neverPayable"
    from service.keeper_audit where chain_id = ${chainId}`;
  return row;
}
