/** Tables by UTC day. */
import type { Period } from "../http/paging.ts";

export const SECONDS_PER_DAY = 86_400n;

/** The start of the UTC day of a time, both in Unix seconds. */
export const dayOf = (time: bigint): bigint => time - (time % SECONDS_PER_DAY);

/** The UTC day that begins at `start` (Unix seconds), as `YYYY-MM-DD`. */
export const dayName = (start: bigint): string => new Date(Number(start) * 1000).toISOString().slice(0, 10);

/**
 * The starts of all UTC days of the period, oldest first: from the first of `known` to the day of `now` (Unix seconds). The
 * day of `from` belongs to the period, a day that begins at `to` does not.
 * @param known starts of the days with events, ascending
 */
export function everyDay(known: readonly bigint[], { from = 0n, to }: Period, now: bigint): bigint[] {
  const first = known.find((start) => start >= dayOf(from));
  if (first === undefined) return [];
  const end = to === undefined || to > now ? now + 1n : to;
  const days: bigint[] = [];
  for (let start = first; start < end; start += SECONDS_PER_DAY) days.push(start);
  return days;
}
