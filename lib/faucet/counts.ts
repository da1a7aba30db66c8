import { sql } from "drizzle-orm";
import type { Database } from "../db/connect.ts";

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

/**
 * Forgets the client addresses of claims that are two days old, and the slots that came free a day ago: they limit nothing,
 * and an address is somebody's. A slot that a claim is taking over at this moment is left to it.
 */
export async function forgetOldClaimants(db: Database): Promise<void> {
  await db.execute(sql`
    update service.faucet_claim set client = null
    where client is not null and claimed_at < now() - interval '48 hours'`);
  await db.execute(sql`
    delete from service.faucet_slot where (chain_id, kind, subject) in (
      select chain_id, kind, subject from service.faucet_slot where until < now() - interval '24 hours'
      for update skip locked)`);
}
