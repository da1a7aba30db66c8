import { expect, test } from "vitest";
import { bucketName, bucketsBefore, bucketsFrom, type Interval } from "../../api/stats/series/buckets.ts";

/** Unix seconds of a UTC date. */
const time = (text: string) => BigInt(Date.parse(`${text}Z`) / 1000);
const days = (interval: Interval, from: string, last: string) =>
  bucketsFrom(interval, time(from), time(last), 1000)?.map(bucketName);

test("days are UTC days, also over the end of a leap year's February", () => {
  expect(days("day", "2028-02-28T23:59:59", "2028-03-01T00:00:00")).toEqual([
    "2028-02-28",
    "2028-02-29",
    "2028-03-01",
  ]);
});

test("weeks begin on Mondays, over the end of a year, and in 1970 before the first second", () => {
  // 2027-01-01 is a Friday.
  expect(days("week", "2027-01-01T00:00:00", "2027-01-04T00:00:00")).toEqual(["2026-12-28", "2027-01-04"]);
  expect(days("week", "2026-12-28T00:00:00", "2027-01-03T23:59:59")).toEqual(["2026-12-28"]);
  expect(days("week", "1970-01-01T00:00:00", "1970-01-05T00:00:00")).toEqual(["1969-12-29", "1970-01-05"]);
});

test("months are calendar months", () => {
  expect(days("month", "2026-11-30T23:59:59", "2027-02-01T00:00:00")).toEqual([
    "2026-11-01",
    "2026-12-01",
    "2027-01-01",
    "2027-02-01",
  ]);
});

test("buckets follow each other without a gap, and the first one has the start", () => {
  const [from, last] = [time("2026-01-31T12:00:00"), time("2028-03-01T12:00:00")];
  for (const interval of ["day", "week", "month"] as const) {
    const buckets = bucketsFrom(interval, from, last, 1000) ?? [];
    expect(buckets.length).toBeGreaterThan(20);
    for (const [place, { start, end }] of buckets.entries()) {
      expect(end).toBeGreaterThan(start);
      expect(buckets[place + 1]?.start ?? end).toBe(end);
    }
    const ends = [buckets[0], buckets.at(-1)];
    expect(
      ends.map((bucket, place) => {
        const inside = place === 0 ? from : last;
        return bucket !== undefined && bucket.start <= inside && inside < bucket.end;
      }),
    ).toEqual([true, true]);
    expect(bucketsBefore(interval, last, buckets.length - 1)).toBe(buckets[0]?.start);
  }
});

test("as many buckets as allowed are given, one more is not", () => {
  const from = time("2026-01-01T00:00:00");
  const last = from + 365n * 86_400n;
  expect(bucketsFrom("day", from, last, 366)).toHaveLength(366);
  expect(bucketsFrom("day", from, last + 86_400n, 366)).toBeUndefined();
  expect(bucketsFrom("day", 0n, 10n ** 15n, 366)).toBeUndefined();
  expect(bucketsFrom("month", last, from, 366)).toEqual([]);
  expect(bucketsFrom("month", 10n ** 15n, last, 366)).toEqual([]);
});
