/** The sums that the projections keep, and the policies that are open at a time. */
import { asc, sql } from "drizzle-orm";
import { z } from "zod";
import { burnDay, burnSourceStats, policy, policyClock, protocolStats } from "../../ponder.schema.ts";
import type { IndexQuery } from "../index/reader.ts";

const SECONDS_PER_MINUTE = 60n;

export type ProtocolSums = typeof protocolStats.$inferSelect;

/** The protocol's sums; undefined until something has happened. */
export async function readProtocolSums(db: IndexQuery): Promise<ProtocolSums | undefined> {
  const [sums] = await db.select().from(protocolStats);
  return sums;
}

const countRow = z.object({ open: z.coerce.number(), waiting: z.coerce.number() });

/**
 * Policies that are neither triggered, cancelled nor expired at `now` (Unix seconds), and those of them that still wait.
 * The clock's rows tell the later minutes, of which there are as many as the longest cover has; the minute at hand is
 * counted. A policy whose dates the index could not know, because its product was set up before the first indexed block, is
 * in neither number.
 */
export async function countOpenPolicies(
  db: IndexQuery,
  now: bigint,
): Promise<{ open: number; waiting: number }> {
  const next = String(now - (now % SECONDS_PER_MINUTE) + SECONDS_PER_MINUTE);
  const later = (edge: "expiry" | "waiting") => sql`
    (select coalesce(sum(policies), 0) from ${policyClock} where edge = ${edge} and minute >= ${next})`;
  const untouched = sql`triggered_at is null and cancelled_at is null`;
  const [row] = await db.execute(sql`
    select
      ${later("expiry")} + (select count(*) from ${policy}
        where expires_at >= ${String(now)} and expires_at < ${next} and ${untouched}) as open,
      ${later("waiting")} + (select count(*) from ${policy}
        where waiting_ends_at > ${String(now)} and waiting_ends_at < ${next} and ${untouched}) as waiting`);
  return countRow.parse(row);
}

/** Burns of each UTC day that had any, oldest first: as many rows as days. */
export const readBurnDays = (db: IndexQuery) => db.select().from(burnDay).orderBy(asc(burnDay.dayStart));

/** Burns by source, a row for each that burned. */
export const readBurnSources = (db: IndexQuery) => db.select().from(burnSourceStats);
