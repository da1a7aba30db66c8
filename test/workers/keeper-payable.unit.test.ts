/** In which blocks a trigger would have been paid, to the block and the second. */
import fc from "fast-check";
import { pad } from "viem";
import { expect, test } from "vitest";
import type { CoveredPolicy, History, Round } from "../../workers/keeper/from-chain/history.ts";
import { isPayableNow, proofAfter } from "../../workers/keeper/from-chain/payable.ts";
import { roundsOf } from "../../workers/keeper/from-chain/read-rounds.ts";
import {
  at,
  historyOf,
  payableBlocks,
  policyOf,
  roundOf,
  roundsIn,
  TRIGGER_PRICE,
  timeOf,
} from "./support/keeper-history.ts";

const DAY = 86_400n;
const day = policyOf({ endsAt: timeOf(100) + DAY });

test("the third round is in a block: payable from the next block to the last second of the window", async () => {
  const history = historyOf(roundsIn(200, 210, 220));
  expect(await payableBlocks(policyOf(), history)).toEqual([[221, 1900]]);
  expect(await payableBlocks(policyOf({ endsAt: timeOf(1900) - 1n }), history)).toEqual([[221, 1899]]);
  expect(await payableBlocks(policyOf({ endsAt: timeOf(1900) + 1n }), history)).toEqual([[221, 1900]]);
});

test("the newest round is exactly an hour old: payable; a second older: not", async () => {
  expect(await payableBlocks(day, historyOf(roundsIn(200, 210, 220)))).toEqual([[221, 220 + 1800]]);
  const dated = [...roundsIn(200, 210), roundOf(3, 220, { updatedAt: timeOf(220) - 1n })];
  expect(await payableBlocks(day, historyOf(dated))).toEqual([[221, 220 + 1799]]);
});

test("the newest round decides, whatever its id", async () => {
  const old = timeOf(150);
  const rounds = [
    roundOf(9, 200),
    roundOf(10, 210, { updatedAt: old }),
    roundOf(11, 220, { updatedAt: old }),
  ];
  expect(await payableBlocks(day, historyOf(rounds))).toEqual([[221, 200 + 1800]]);
});

test("a later round makes a stale policy payable again", async () => {
  const history = historyOf(roundsIn(200, 210, 220, 5000));
  expect(await payableBlocks(day, history)).toEqual([
    [221, 2020],
    [5001, 6800],
  ]);
});

test("rounds count at the trigger price and not above it", async () => {
  const above = roundOf(2, 210, { price: TRIGGER_PRICE + 1n });
  expect(await payableBlocks(day, historyOf([roundOf(1, 200), above, roundOf(3, 220)]))).toEqual([]);
  const zero = roundOf(2, 210, { price: 0n });
  expect(await payableBlocks(day, historyOf([roundOf(1, 200), zero, roundOf(3, 220)]))).toEqual([]);
});

test("rounds count from the start of the cover to the last second of the window", async () => {
  const coverFrom = timeOf(400);
  const policy = policyOf({ coverFrom });
  const early = roundOf(1, 399, { updatedAt: coverFrom - 1n });
  expect(await payableBlocks(policy, historyOf([early, roundOf(2, 500), roundOf(3, 510)]))).toEqual([]);
  const first = roundOf(1, 400, { updatedAt: coverFrom });
  expect(await payableBlocks(policy, historyOf([first, roundOf(2, 500), roundOf(3, 510)]))).toEqual([
    [511, 1900],
  ]);
  const { endsAt } = policy.terms;
  const last = roundOf(3, 600, { updatedAt: endsAt });
  const beyond = roundOf(3, 600, { updatedAt: endsAt + 1n });
  expect(await payableBlocks(policy, historyOf([...roundsIn(500, 510), last]))).toEqual([[601, 1900]]);
  expect(await payableBlocks(policy, historyOf([...roundsIn(500, 510), beyond]))).toEqual([]);
});

test("purchase and three rounds in one block: payable from the next block", async () => {
  expect(await payableBlocks(day, historyOf(roundsIn(100, 100, 100)))).toEqual([[101, 1900]]);
});

test("rounds from before the purchase that are dated ahead count from the purchase on", async () => {
  const ahead = [1, 2, 3].map((id) => roundOf(id, 50, { updatedAt: timeOf(120) }));
  expect(await payableBlocks(day, historyOf(ahead))).toEqual([[101, 1920]]);
});

test("one round id counts once", async () => {
  const twice = [roundOf(1, 200), roundOf(1, 205), roundOf(2, 210)];
  expect(await payableBlocks(day, historyOf(twice))).toEqual([]);
  expect(proofAfter(day, historyOf(twice), 300n)).toBeUndefined();
});

test("the proof has the newest rounds of those known, by rising id", () => {
  const history = historyOf(roundsIn(200, 210, 220, 230));
  expect(proofAfter(day, history, 219n)).toBeUndefined();
  expect(proofAfter(day, history, 220n)).toEqual([1n, 2n, 3n]);
  expect(proofAfter(day, history, 230n)).toEqual([2n, 3n, 4n]);
});

test("after an outage: not within the hour of grace, payable in the second after it", async () => {
  const rounds = roundsIn(200, 210, 220, 2790);
  const outage = (startedAt: bigint) => [
    at(300, { up: false, startedAt: timeOf(300) }),
    at(1000, { up: true, startedAt }),
  ];
  const exact = historyOf(rounds, { sequencer: outage(timeOf(1000)) });
  expect(timeOf(2800)).toBe(timeOf(1000) + 3_600n);
  expect(await payableBlocks(day, exact)).toEqual([
    [221, 300],
    [2801, 2790 + 1800],
  ]);
  const second = historyOf(rounds, { sequencer: outage(timeOf(1000) - 1n) });
  expect((await payableBlocks(day, second))[1]?.[0]).toBe(2800);
});

test("an unknown status of the sequencer, and one without a start, count as down", async () => {
  const rounds = roundsIn(200, 210, 220);
  for (const value of [undefined, { up: true, startedAt: 0n }])
    expect(await payableBlocks(day, historyOf(rounds, { sequencer: [at(50, value)] }))).toEqual([]);
});

test("a closed policy is payable up to the block of its closing; a payout below a dollar never", async () => {
  const closing = { by: "triggered", block: 250n, txHash: "0x" } as const;
  const history = historyOf(roundsIn(200, 210, 220));
  expect(await payableBlocks({ ...day, closing }, history)).toEqual([[221, 250]]);
  expect(await payableBlocks({ ...day, payout: 999_999n }, history)).toEqual([]);
  expect(await payableBlocks({ ...day, payout: 1_000_000n }, history)).toEqual([[221, 2020]]);
});

test("payable now: by the state after the newest block, at its time", () => {
  const now = (lastBlock: number) =>
    isPayableNow(day, historyOf(roundsIn(200, 210, 220), { lastBlock }), timeOf(lastBlock));
  expect([219, 220, 221, 2020, 2021].map(now)).toEqual([false, true, true, true, false]);
});

test("the rounds of a later phase count once the feed answers from it", async () => {
  const [old, later] = [pad("0xa", { size: 20 }), pad("0xb", { size: 20 })] as const;
  const answer = (aggregator: typeof old, block: number, round: number) => ({
    aggregator,
    block: BigInt(block),
    round: BigInt(round),
    answer: 1n,
    updatedAt: timeOf(block),
  });
  const rounds = roundsOf(
    [
      { phase: 1, aggregator: old, countsAfter: 0n },
      { phase: 2, aggregator: later, countsAfter: 230n },
    ],
    [answer(old, 200, 7), answer(later, 210, 1), answer(later, 240, 2), answer(later, 245, 2)],
  );
  expect(rounds.map(({ roundId, knownAfter }) => [roundId, knownAfter])).toEqual([
    [(1n << 64n) | 7n, 200n],
    [(2n << 64n) | 1n, 230n],
    [(2n << 64n) | 2n, 240n],
  ]);
  const policy = { ...day, terms: { ...day.terms, triggerPrice: 10n ** 10n } };
  expect(await payableBlocks(policy, historyOf(rounds))).toEqual([[241, 2040]]);
});

/** The contract's rule for one block, without any of the code that is tested: by trying all proofs. */
function paysIn(block: number, policy: CoveredPolicy, history: History, rounds: readonly Round[]): boolean {
  const [after, now] = [BigInt(block) - 1n, timeOf(block)];
  const { coverFrom, endsAt, triggerPrice } = policy.terms;
  let status: { up: boolean; startedAt: bigint } | undefined;
  for (const change of history.sequencer) if (change.block <= after) status = change.value;
  const active = status?.up && status.startedAt > 0n && now > status.startedAt + 3_600n;
  if (!active || after < policy.soldIn || now > endsAt) return false;
  const known = rounds.filter(({ knownAfter }) => knownAfter <= after);
  const counts = (round: Round) =>
    round.updatedAt >= coverFrom && round.updatedAt <= endsAt && round.price <= triggerPrice;
  return known.some((a) =>
    known.some(
      (b) =>
        b.roundId > a.roundId &&
        known.some(
          (c) =>
            c.roundId > b.roundId &&
            [a, b, c].every(counts) &&
            [a, b, c].some(({ updatedAt }) => now <= updatedAt + 3_600n),
        ),
    ),
  );
}

test("any history: the payable blocks are those in which some proof fulfils the contract's rule", async () => {
  const block = fc.integer({ min: 0, max: 4000 });
  const price = fc.constantFrom(TRIGGER_PRICE, TRIGGER_PRICE, TRIGGER_PRICE + 1n);
  const shift = fc.oneof(fc.constant(0), fc.integer({ min: -4000, max: 600 }));
  const histories = fc.record({
    rounds: fc.array(fc.record({ block, price, shift }), { maxLength: 9 }),
    statuses: fc.array(fc.record({ block, up: fc.boolean(), shift }), { maxLength: 3 }),
    seconds: fc.integer({ min: 600, max: 7000 }),
    waiting: fc.constantFrom(0, 300),
  });
  const byBlock = (a: { block: bigint }, b: { block: bigint }) => Number(a.block - b.block);
  await fc.assert(
    fc.asyncProperty(histories, async ({ rounds: drawn, statuses, seconds, waiting }) => {
      const rounds = drawn.map((one, id) =>
        roundOf(id + 1, one.block, { price: one.price, updatedAt: timeOf(one.block) + BigInt(one.shift) }),
      );
      const history = historyOf(rounds, {
        lastBlock: 4500,
        sequencer: statuses
          .map((one) => at(one.block, { up: one.up, startedAt: timeOf(one.block) + BigInt(one.shift) }))
          .sort(byBlock),
      });
      const policy = policyOf({
        coverFrom: timeOf(100) + BigInt(waiting),
        endsAt: timeOf(100) + BigInt(seconds),
      });
      const found = new Set<number>();
      for (const [first, last] of await payableBlocks(policy, history))
        for (let one = first; one <= last; one++) found.add(one);
      const expected = new Set<number>();
      for (let one = 0; one <= 4500; one++) if (paysIn(one, policy, history, rounds)) expected.add(one);
      expect(found).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});
