/** Buckets of time: UTC days, ISO weeks (from Monday on) and months. All times are Unix seconds. */
import { dayName, dayOf, SECONDS_PER_DAY } from "../days.ts";

export const intervals = ["day", "week", "month"] as const;
export type Interval = (typeof intervals)[number];

export type Bucket = {
  readonly start: bigint;
  /** Exclusive. */
  readonly end: bigint;
};

/** 1 January 1970 was a Thursday, three days after a Monday. */
const MONDAY_BEFORE = 3n * SECONDS_PER_DAY;
const SECONDS_PER_WEEK = 7n * SECONDS_PER_DAY;

/** The month of a time, counted from year 0. */
function monthOf(time: bigint): number {
  const date = new Date(Number(time) * 1000);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}
const startOfMonth = (month: number) => BigInt(Date.UTC(Math.floor(month / 12), month % 12) / 1000);

/** The bucket with a time, and its successors by their number. The week with 1 January 1970 starts before it, at a negative time. */
function countedFrom(interval: Interval, time: bigint): (n: number) => bigint {
  if (interval === "month") return (n) => startOfMonth(monthOf(time) + n);
  const length = interval === "week" ? SECONDS_PER_WEEK : SECONDS_PER_DAY;
  const first = interval === "week" ? time - ((time + MONDAY_BEFORE) % SECONDS_PER_WEEK) : dayOf(time);
  return (n) => first + BigInt(n) * length;
}

/** The start of the bucket `count` buckets before the one with this time. */
export const bucketsBefore = (interval: Interval, time: bigint, count: number): bigint =>
  countedFrom(interval, time)(-count);

/**
 * Every bucket from the one with `from` to the one with `last`, oldest first; none where `from` is later.
 * @returns undefined when they are more than `most`
 */
export function bucketsFrom(
  interval: Interval,
  from: bigint,
  last: bigint,
  most: number,
): Bucket[] | undefined {
  // A month so late may have no date.
  if (from > last) return [];
  const startOf = countedFrom(interval, from);
  const buckets: Bucket[] = [];
  for (let n = 0; startOf(n) <= last; n += 1) {
    if (n === most) return undefined;
    buckets.push({ start: startOf(n), end: startOf(n + 1) });
  }
  return buckets;
}

/** The first UTC day of a bucket, as `YYYY-MM-DD`. */
export const bucketName = ({ start }: Bucket): string => dayName(start);
