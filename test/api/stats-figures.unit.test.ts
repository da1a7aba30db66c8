/** The arithmetic of the statistics: quotients, days, and what the vault pays of its queue. */
import { expect, test } from "vitest";
import { dayName, everyDay } from "../../api/stats/days.ts";
import { paidInTheirWeek, throttleAt } from "../../api/stats/queue/throttle.ts";
import { ratio } from "../../api/stats/ratio.ts";

test("a quotient has 6 digits and is rounded towards zero; without a whole there is none", () => {
  expect([ratio(1n, 3n), ratio(2n, 3n), ratio(0n, 5n), ratio(7n, 2n), ratio(1n, 0n)]).toEqual([
    "0.333333",
    "0.666666",
    "0.000000",
    "3.500000",
    null,
  ]);
  expect([ratio(-1n, 3n), ratio(-7n, 2n), ratio(-1n, 10n ** 9n)]).toEqual([
    "-0.333333",
    "-3.500000",
    "0.000000",
  ]);
});

test("days go from the first known one within the period to the day of now, or to the period's end", () => {
  const [first, second, last] = [86_400n * 10n, 86_400n * 12n, 86_400n * 13n];
  const names = (period: { from?: bigint; to?: bigint }, now = last + 5n) =>
    everyDay([first, second], period, now).map(dayName);
  expect(names({})).toEqual(["1970-01-11", "1970-01-12", "1970-01-13", "1970-01-14"]);
  expect(names({ from: first + 80_000n, to: second })).toEqual(["1970-01-11", "1970-01-12"]);
  expect(names({ from: first + 86_400n })).toEqual(["1970-01-13", "1970-01-14"]);
  expect(names({ to: second + 1n })).toEqual(["1970-01-11", "1970-01-12", "1970-01-13"]);
  expect(names({ from: last })).toEqual([]);
  expect(names({ to: last * 9n }, second)).toEqual(["1970-01-11", "1970-01-12", "1970-01-13"]);
  expect(everyDay([], {}, last)).toEqual([]);
});

const TOKEN = 10n ** 18n;
const WEEK = 604_800n;
/** 10,800 dollars a week, at a dollar each. */
const RESERVE = 1_000_000n * TOKEN;

test("a week's limit is 1.08 % of the reserve now, and counts dollars at the price of now", () => {
  const week = { paid: 800n * TOKEN, redeemed: 800n };
  const common = { week: 7n, limit: 10_800n * TOKEN, paid: 800n * TOKEN };
  expect(throttleAt(7n * WEEK + 5n, RESERVE, week, TOKEN)).toEqual({
    ...{ ...common, left: 10_000n * TOKEN, leftDollars: 10_000n * TOKEN },
  });
  // At twice the price the limit is 21,600 dollars, and 20,800 of them are left.
  expect(throttleAt(7n * WEEK, RESERVE, week, 2n * TOKEN)).toEqual({
    ...{ ...common, left: 10_400n * TOKEN, leftDollars: 20_800n * TOKEN },
  });
  expect(throttleAt(7n * WEEK, RESERVE, { paid: 9n, redeemed: 20_000n }, TOKEN).left).toBe(0n);
  const unknown = throttleAt(7n * WEEK, RESERVE, { paid: 0n, redeemed: 0n }, undefined);
  expect([unknown.left, unknown.leftDollars]).toEqual([10_800n * TOKEN, null]);
});

test("a week pays in order what fits and skips the rest, and pays nothing before or after its week", () => {
  const places = (
    entries: readonly [usd: bigint, week: bigint][],
    redeemed = 0n,
    gone: readonly number[] = [],
  ) => {
    const all = entries
      .map(([usdAmount, targetEpoch], place) => ({ queueId: BigInt(place), usdAmount, targetEpoch }))
      .filter((_, place) => !gone.includes(place));
    const situation = { now: 7n * WEEK + 1n, redeemed, reserve: RESERVE, price: TOKEN };
    return [...paidInTheirWeek(all, situation)].map(Number);
  };
  const entry = (usd: bigint, week = 7n): [bigint, bigint] => [usd, week];
  // 10,800 dollars: the third does not fit, the fourth does.
  expect(places([entry(5_000n), entry(5_000n), entry(5_000n), entry(100n)])).toEqual([0, 1, 3]);
  expect(places([entry(5_000n), entry(700n)], 10_000n)).toEqual([1]);
  expect(places([entry(1n, 6n), entry(1n), entry(10_799n, 8n)])).toEqual([1, 2]);
  // The payments of week 7 lower the limit of week 8.
  expect(places([entry(10_000n), entry(10_700n, 8n), entry(10_690n, 8n)])).toEqual([0, 2]);
  // Twenty entries that do not fit block the one behind them; with the first paid it is reached.
  const large = Array.from({ length: 20 }, () => entry(20_000n));
  expect(places([...large, entry(1n)])).toEqual([]);
  expect(places([entry(1n), ...large.slice(1), entry(1n)])).toEqual([0, 20]);
  // Entries that were paid before count too: a call from 0 on reaches 19, and not 20 with place 3 paid.
  const paidBefore: [bigint, bigint][] = [...large.slice(1), entry(1n), entry(1n)];
  expect(places(paidBefore, 0n, [3])).toEqual([19]);
});
