/** What the audit says of a policy: missed or not, and whether the service was down. */
import { expect, test } from "vitest";
import { judge, type Verdict } from "../../workers/keeper/audit/replay.ts";
import { createClock } from "../../workers/keeper/from-chain/cover-chain.ts";
import { at, clock, historyOf, policyOf, roundsIn, timeOf } from "./support/keeper-history.ts";

const rounds = roundsIn(300, 340, 380);
const missed: Verdict = {
  is: "missed",
  payable: { first: 381n, last: 1900n, ranges: [{ from: 381n, to: 1900n }] },
};
const closed = (by: "triggered" | "expired" | "replaced", block: number) => ({
  closing: { by, block: BigInt(block) },
});

test("three observations could have been made: missed, with the first and the last block of the third", async () => {
  expect(await judge(policyOf(), historyOf(rounds), clock)).toEqual(missed);
  expect(await judge(policyOf(closed("expired", 3000)), historyOf(rounds), clock)).toEqual(missed);
});

test("triggered, whenever it could have been", async () => {
  expect(await judge(policyOf(closed("triggered", 900)), historyOf(rounds), clock)).toEqual({
    is: "triggered",
  });
});

test("it fell too briefly: not met", async () => {
  expect(await judge(policyOf(), historyOf(roundsIn(300, 340)), clock)).toEqual({ is: "not_met" });
});

test("the window lasts: open, until a block is later than its last second, or the key has come again", async () => {
  const until = async (lastBlock: number, policy = policyOf()) =>
    (await judge(policy, historyOf(rounds, { lastBlock }), clock)).is;
  expect([await until(150), await until(1900), await until(1901)]).toEqual(["open", "open", "missed"]);
  expect(await until(1000, policyOf(closed("replaced", 900)))).toBe("missed");
  expect(await until(1000, policyOf(closed("replaced", 381)))).toBe("not_met");
});

test("three could have been made but for the sequencer: sequencer_down", async () => {
  const down = at(310, { up: false, startedAt: timeOf(310) });
  const up = at(400, { up: true, startedAt: timeOf(400) });
  for (const sequencer of [[down], [down, up]])
    expect(await judge(policyOf(), historyOf(rounds, { sequencer }), clock)).toEqual({
      is: "sequencer_down",
    });
  expect(await judge(policyOf(), historyOf(roundsIn(300, 340), { sequencer: [down] }), clock)).toEqual({
    is: "not_met",
  });
});

test("a reset by others excuses, until three more could have been made", async () => {
  const verdict = async (...resets: bigint[]) =>
    (await judge(policyOf(), historyOf(rounds), clock, { resets })).is;
  expect([await verdict(200n), await verdict(345n), await verdict(500n)]).toEqual([
    "missed",
    "not_met",
    "missed",
  ]);
});

test("down when the third could have been made first: missed while down, whatever came later", async () => {
  const verdict = async (...downtime: [bigint, bigint][]) => {
    const times = downtime.map(([from, to]) => ({ from, to }));
    return (await judge(policyOf(), historyOf(rounds), clock, { downtime: times })).is;
  };
  const time = timeOf(381);
  expect(await verdict([time, time])).toBe("missed_while_down");
  expect(await verdict([0n, 1n], [time - 9n, timeOf(9_999)])).toBe("missed_while_down");
  expect(await verdict([0n, time - 1n], [time + 1n, timeOf(9_999)])).toBe("missed");
  expect(await verdict()).toBe("missed");
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
