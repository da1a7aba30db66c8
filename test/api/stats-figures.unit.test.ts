/** The arithmetic of the statistics: quotients, days, and the weeks in which the vault pays its queue. */
import { expect, test } from "vitest";
import { dayName, everyDay } from "../../api/stats/days.ts";
import { paymentWeeks, throttleAt } from "../../api/stats/queue/throttle.ts";
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
/** 10,800 tokens a week, at a dollar each. */
const RESERVE = 1_000_000n * TOKEN;
const NOTHING = { paid: 0n, deposited: 0n, burned: 0n };

test("the limit of a week is 1.08 % of the reserve at its start, whatever happened since", () => {
  const week = { paid: 800n * TOKEN, deposited: 500n * TOKEN, burned: 100n * TOKEN };
  const reserve = RESERVE - week.paid + week.deposited - week.burned;
  const throttle = throttleAt(7n * WEEK + 5n, reserve, week);
  expect(throttle).toEqual({
    ...{ week: 7n, reserve, paid: week.paid },
    ...{ limit: 10_800n * TOKEN, left: 10_000n * TOKEN },
  });
  expect(throttleAt(7n * WEEK, RESERVE, { ...NOTHING, paid: 20_000n * TOKEN }).left).toBe(0n);
});

test("a week pays in order what fits, its first payment even above the limit, and nothing before its target week", () => {
  const weeks = (entries: readonly [usd: bigint, target: bigint][], paid = 0n) =>
    paymentWeeks(
      entries.map(([usdAmount, targetEpoch]) => ({ usdAmount, targetEpoch })),
      throttleAt(7n * WEEK, RESERVE, { ...NOTHING, paid }),
      TOKEN,
    );
  expect(
    weeks([
      [5_000n, 7n],
      [5_000n, 7n],
      [5_000n, 7n],
      [100n, 7n],
    ]),
  ).toEqual([7n, 7n, 8n, 8n]);
  expect(weeks([[5_000n, 7n]], 10_000n * TOKEN)).toEqual([8n]);
  expect(
    weeks([
      [50_000n, 7n],
      [1n, 7n],
    ]),
  ).toEqual([7n, 8n]);
  expect(
    weeks([
      [1n, 8n],
      [1n, 8n],
      [1n, 12n],
    ]),
  ).toEqual([8n, 8n, 12n]);
  expect(
    weeks([
      [1n, 7n],
      [2_000_000n, 7n],
      [1n, 7n],
    ]),
  ).toEqual([7n, null, null]);
});
