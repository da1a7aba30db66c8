/** Reads the protocol's sums, and counts open policies. */
import { asc, sql } from "drizzle-orm";
import { z } from "zod";
import { hasStatus, isOpen } from "../../lib/indexed/policy-status.ts";
import { burnDay, burnSourceStats, policy, policyClock, protocolStats } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";

const SECONDS_PER_MINUTE = 60n;

export type ProtocolSums = typeof protocolStats.$inferSelect;

/** The protocol's sums; undefined before the first event. */
export async function readProtocolSums(db: IndexQuery): Promise<ProtocolSums | undefined> {
  const [sums] = await db.select().from(protocolStats);
  return sums;
}

const countRow = z.object({ open: z.coerce.number(), waiting: z.coerce.number() });

/**
 * Counts policies that are neither triggered, cancelled nor expired at `now` (Unix seconds), and those still in their
 * waiting period. `policy_clock` holds the sums of later minutes; the current minute is counted. Policies without indexed
 * dates (their product is older than the first indexed block) are in neither number.
 */
export async function countOpenPolicies(
  db: IndexQuery,
  now: bigint,
): Promise<{ open: number; waiting: number }> {
  const next = String(now - (now % SECONDS_PER_MINUTE) + SECONDS_PER_MINUTE);
  const later = (edge: "expiry" | "waiting") => sql`
    (select coalesce(sum(policies), 0) from ${policyClock} where edge = ${edge} and minute >= ${next})`;
  const [row] = await db.execute(sql`
    select
      ${later("expiry")} + (select count(*) from ${policy}
        where ${isOpen(policy, now)} and ${policy.expiresAt} < ${next}) as open,
      ${later("waiting")} + (select count(*) from ${policy}
        where ${hasStatus(policy, "Waiting", now)} and ${policy.waitingEndsAt} < ${next}) as waiting`);
  return countRow.parse(row);
}

/** Burns by UTC day, oldest first, one row for each day with burns. */
export const readBurnDays = (db: IndexQuery) => db.select().from(burnDay).orderBy(asc(burnDay.dayStart));

/** Burns by source, one row for each source with burns. */
export const readBurnSources = (db: IndexQuery) => db.select().from(burnSourceStats);
