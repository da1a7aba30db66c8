/** Tables by UTC day. */
import { type Column, type SQL, sql } from "drizzle-orm";
import type { Period } from "../http/paging.ts";

export const SECONDS_PER_DAY = 86_400n;

/** The start of the UTC day of a time, both in Unix seconds. */
export const dayOf = (time: bigint): bigint => time - (time % SECONDS_PER_DAY);

/** The UTC day that begins at `start` (Unix seconds), as `YYYY-MM-DD`. */
export const dayName = (start: bigint): string => new Date(Number(start) * 1000).toISOString().slice(0, 10);

/** Days of the period by the column with their start: the day of `from` too, and no day from `to` on. */
export const daysWithin = (dayStart: Column, { from, to }: Period): SQL => sql`
  ${dayStart} >= ${from === undefined ? "0" : String(dayOf(from))}
  and ${dayStart} < ${to === undefined ? sql`'Infinity'::numeric` : String(to)}`;

/**
 * Every day of the period from the first of `known` to the day of `now` (Unix seconds), oldest first.
 * @param known starts of days, ascending
 */
export function everyDay(known: readonly bigint[], { to }: Period, now: bigint): bigint[] {
  const [first] = known;
  if (first === undefined) return [];
  const end = to === undefined || to > now ? now + 1n : to;
  const count = (end - first + SECONDS_PER_DAY - 1n) / SECONDS_PER_DAY;
  return Array.from({ length: Number(count) }, (_, index) => first + BigInt(index) * SECONDS_PER_DAY);
}
