import type { Sql } from "postgres";

/** Claims that were not freed: of the last 24 hours, and of the UTC day, which ends at `dayEndsAt`. */
export type ClaimCounts = { last24h: number; today: number; dayEndsAt: Date };

export async function countClaims(sql: Sql, chainId: number): Promise<ClaimCounts> {
  const [row] = await sql<ClaimCounts[]>`
    select
      (select count(*)::int from service.faucet_claim
        where chain_id = ${chainId} and claimed_at > now() - interval '24 hours' and freed_at is null) as last24h,
      coalesce((select claims from service.faucet_day
        where chain_id = ${chainId} and day = (now() at time zone 'utc')::date), 0) as today,
      ((now() at time zone 'utc')::date + 1)::timestamp at time zone 'utc' as "dayEndsAt"`;
  if (!row) throw new Error("the database returned no counts of claims");
  return row;
}

/** The most claims that one statement deletes. */
const ROUND = 1000;

/**
 * Deletes the claims that were freed two days ago, with their transfers, which were never signed: a client can make any
 * number of them.
 */
async function forgetFreedClaims(sql: Sql): Promise<void> {
  let forgotten: number;
  do {
    const rows = await sql`
      with old as (
        select id from service.faucet_claim where freed_at < now() - interval '48 hours'
        order by freed_at limit ${ROUND} for update skip locked
      ), transfers as (
        delete from service.service_transaction where claim_id in (select id from old)
      )
      delete from service.faucet_claim where id in (select id from old) returning 1`;
    forgotten = rows.length;
  } while (forgotten === ROUND);
}

/**
 * Deletes what limits nothing any more, because a client's address is personal data: the addresses of claims that are two
 * days old, freed claims of that age, and slots that ended a day ago. It skips a slot that a new claim is taking over.
 */
export async function forgetOldClaimants(sql: Sql): Promise<void> {
  await sql`
    update service.faucet_claim set client = null
    where client is not null and claimed_at < now() - interval '48 hours'`;
  await sql`
    delete from service.faucet_slot where (chain_id, kind, subject) in (
      select chain_id, kind, subject from service.faucet_slot where until < now() - interval '24 hours'
      for update skip locked)`;
  await forgetFreedClaims(sql);
}
