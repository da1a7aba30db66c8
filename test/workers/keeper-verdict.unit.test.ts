/** What the audit says of a policy: missed or not, and why nobody could have triggered it. */
import { expect, test } from "vitest";
import { outside } from "../../workers/keeper/audit/downtime.ts";
import { judge, type Verdict } from "../../workers/keeper/audit/verdict.ts";
import { createClock } from "../../workers/keeper/from-chain/block-clock.ts";
import { at, clock, historyOf, policyOf, roundOf, roundsIn, timeOf } from "./support/keeper-history.ts";

const rounds = roundsIn(200, 210, 220);
const missed: Verdict = { is: "missed", payable: { first: 221n, last: 1900n } };
const neverPayable = (reason: string) => ({ is: "never_payable", reason });
const closed = (by: "triggered" | "expired", block: number) => ({
  closing: { by, block: BigInt(block), txHash: "0x" as const },
});

test("payable and not triggered: missed, with the first and the last block", async () => {
  expect(await judge(policyOf(), historyOf(rounds), clock)).toEqual(missed);
  expect(await judge(policyOf(closed("expired", 3000)), historyOf(rounds), clock)).toEqual(missed);
});

test("triggered, whenever it was payable", async () => {
  expect(await judge(policyOf(closed("triggered", 900)), historyOf(rounds), clock)).toEqual({
    is: "triggered",
  });
});

test("fewer than three rounds at or below the trigger price: not met", async () => {
  expect(await judge(policyOf(), historyOf(roundsIn(200, 210)), clock)).toEqual({ is: "not_met" });
});

test("a third round that is logged after the window, although dated within it: not met", async () => {
  const late = roundOf(3, 1901, { updatedAt: timeOf(1900) });
  expect(await judge(policyOf(), historyOf([...roundsIn(200, 210), late]), clock)).toEqual({ is: "not_met" });
});

test("the window lasts: open, until a block is later than its last second", async () => {
  const until = (lastBlock: number) => judge(policyOf(), historyOf(rounds, { lastBlock }), clock);
  expect([(await until(150)).is, (await until(1900)).is, (await until(1901)).is]).toEqual([
    "open",
    "open",
    "missed",
  ]);
});

test("the third round in the last block of the window: last_block; in the one before it: missed", async () => {
  const third = (block: number) => judge(policyOf(), historyOf(roundsIn(200, 210, block)), clock);
  expect(await third(1900)).toEqual(neverPayable("last_block"));
  expect(await third(1899)).toEqual({ is: "missed", payable: { first: 1900n, last: 1900n } });
});

test("the sequencer down, or within its hour of grace, to the end: sequencer_down", async () => {
  const down = at(150, { up: false, startedAt: timeOf(150) });
  const up = at(300, { up: true, startedAt: timeOf(300) });
  for (const sequencer of [[down], [down, up]])
    expect(await judge(policyOf(), historyOf(rounds, { sequencer }), clock)).toEqual(
      neverPayable("sequencer_down"),
    );
});

test("rounds older than an hour as soon as they are known: stale", async () => {
  const day = policyOf({ endsAt: timeOf(100) + 86_400n });
  const dated = (age: bigint) =>
    historyOf([1, 2, 3].map((id) => roundOf(id, 9000, { updatedAt: timeOf(9000) - age })));
  expect(await judge(day, dated(3_599n), clock)).toEqual(neverPayable("stale"));
  expect(await judge(day, dated(3_598n), clock)).toEqual({
    is: "missed",
    payable: { first: 9001n, last: 9001n },
  });
});

test("a payout below a dollar: payout_too_small", async () => {
  expect(await judge(policyOf({ payout: 999_999n }), historyOf(rounds), clock)).toEqual(
    neverPayable("payout_too_small"),
  );
});

test("each payable block in downtime: missed while down; one block outside: missed", async () => {
  const verdict = async (...downtime: [number | bigint, number | bigint][]) => {
    const times = downtime.map(([from, to]) => ({ from: BigInt(from), to: BigInt(to) }));
    return (await judge(policyOf(), historyOf(rounds), clock, times)).is;
  };
  const [first, last] = [timeOf(221), timeOf(1900)];
  expect(await verdict([first, last])).toBe("missed_while_down");
  expect(await verdict([first + 1n, last])).toBe("missed");
  expect(await verdict([first, last - 1n])).toBe("missed");
  expect(await verdict()).toBe("missed");
  // No block is in the second between two downtimes.
  expect(await verdict([timeOf(301) - 1n, last], [first, timeOf(300)])).toBe("missed_while_down");
  expect(await verdict([timeOf(301) + 1n, last], [first, timeOf(300)])).toBe("missed");
});

test("the times of a span outside of downtimes that overlap, touch, or lie elsewhere", () => {
  const span = { firstBlock: 1n, lastBlock: 9n, notBefore: 10n, notAfter: 20n };
  const left = (...downtime: [bigint, bigint][]) =>
    outside(
      span,
      downtime.map(([from, to]) => ({ from, to })),
    ).map((part) => [part.notBefore, part.notAfter]);
  expect(left()).toEqual([[10n, 20n]]);
  expect(left([1n, 5n], [25n, 30n])).toEqual([[10n, 20n]]);
  expect(left([5n, 25n])).toEqual([]);
  expect(left([12n, 14n], [13n, 15n])).toEqual([
    [10n, 11n],
    [16n, 20n],
  ]);
  expect(left([15n, 20n], [10n, 14n])).toEqual([]);
});

test("a block is found by its time with few headers, at an even pace and at any other", async () => {
  for (const time of [timeOf, (block: bigint) => block * block * block, (block: bigint) => block / 1000n]) {
    let reads = 0;
    const counting = createClock(async (block) => {
      reads += 1;
      return time(block);
    });
    const range = { from: 0n, to: 10_000_000n };
    for (const block of [0n, 1n, 999n, 1_000n, 4_321_987n, 9_999_999n, 10_000_000n]) {
      const found = await counting.lastAt(time(block), range);
      expect(found !== undefined && time(found) === time(block)).toBe(true);
      expect(found === range.to || (found !== undefined && time(found + 1n) > time(block))).toBe(true);
    }
    expect(await counting.lastAt(time(0n) - 1n, range)).toBeUndefined();
    expect(reads).toBeLessThan(7 * 75);
  }
});
