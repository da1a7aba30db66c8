/** Reads the protocol's sums, and counts open policies. */
import { asc, sql } from "drizzle-orm";
import { z } from "zod";
import { isOpen } from "../../lib/indexed/policy-status.ts";
import { burnDay, burnSourceStats, policy, policyClock, protocolStats } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";

const SECONDS_PER_MINUTE = 60n;

export type ProtocolSums = typeof protocolStats.$inferSelect;

/** The protocol's sums; undefined before the first event. */
export async function readProtocolSums(db: IndexQuery): Promise<ProtocolSums | undefined> {
  const [sums] = await db.select().from(protocolStats);
  return sums;
}

const countRow = z.object({ open: z.coerce.number() });

/**
 * Counts policies that are neither triggered nor expired at `now` (Unix seconds), without those of unknown dates, whose product
 * is older than the first indexed block. `policy_clock` holds the sums of later minutes; the current minute is counted.
 */
export async function countOpenPolicies(db: IndexQuery, now: bigint): Promise<number> {
  const next = String(now - (now % SECONDS_PER_MINUTE) + SECONDS_PER_MINUTE);
  const [row] = await db.execute(sql`
    select (select coalesce(sum(policies), 0) from ${policyClock} where minute >= ${next})
      + (select count(*) from ${policy} where ${isOpen(policy, now)} and ${policy.expiresAt} < ${next}) as open`);
  return countRow.parse(row).open;
}

/** Burns by UTC day, oldest first, one row for each day with burns. */
export const readBurnDays = (db: IndexQuery) => db.select().from(burnDay).orderBy(asc(burnDay.dayStart));

/** Burns by source, one row for each source with burns. */
export const readBurnSources = (db: IndexQuery) => db.select().from(burnSourceStats);
