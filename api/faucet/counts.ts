import { sql } from "drizzle-orm";
import type { Database } from "../../lib/db/connect.ts";

/** Claims that were not taken back: of the last 24 hours, and of the UTC day, which ends at `dayEndsAt`. */
export type ClaimCounts = { last24h: number; today: number; dayEndsAt: Date };

export async function countClaims(db: Database, chainId: number): Promise<ClaimCounts> {
  const [row] = await db.execute<{ last_24h: number; today: number; day_ends_ms: number }>(sql`
    select
      (select count(*)::int from service.faucet_claim
        where chain_id = ${chainId} and claimed_at > now() - interval '24 hours' and freed_at is null) as last_24h,
      coalesce((select claims from service.faucet_day
        where chain_id = ${chainId} and day = (now() at time zone 'utc')::date), 0) as today,
      extract(epoch from ((now() at time zone 'utc')::date + 1)::timestamp at time zone 'utc')::float8 * 1000 as day_ends_ms`);
  if (!row) throw new Error("the database counted no claims");
  return { last24h: row.last_24h, today: row.today, dayEndsAt: new Date(row.day_ends_ms) };
}

/** Claims that are forgotten at once. */
const ROUND = 1000;

/**
 * Forgets the claims that were given back two days ago, with their transfers, of which by then nothing was ever signed: a
 * stranger can make as many as it likes.
 */
async function forgetFreedClaims(db: Database): Promise<void> {
  let forgotten: number;
  do {
    const rows = await db.execute(sql`
      with old as (
        select id from service.faucet_claim where freed_at < now() - interval '48 hours'
        order by freed_at limit ${ROUND} for update skip locked
      ), transfers as (
        delete from service.errand where claim_id in (select id from old)
      )
      delete from service.faucet_claim where id in (select id from old) returning 1`);
    forgotten = rows.length;
  } while (forgotten === ROUND);
}

/**
 * Forgets the client addresses of claims that are two days old, claims that were given back then, and the slots that came
 * free a day ago: they limit nothing, and an address is somebody's. A slot that a claim is taking over at this moment is left to it.
 */
export async function forgetOldClaimants(db: Database): Promise<void> {
  await db.execute(sql`
    update service.faucet_claim set client = null
    where client is not null and claimed_at < now() - interval '48 hours'`);
  await db.execute(sql`
    delete from service.faucet_slot where (chain_id, kind, subject) in (
      select chain_id, kind, subject from service.faucet_slot where until < now() - interval '24 hours'
      for update skip locked)`);
  await forgetFreedClaims(db);
}
