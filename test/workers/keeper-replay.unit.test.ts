/** When three observations could have been made, to the block and the second. */
import fc from "fast-check";
import { pad } from "viem";
import { expect, test } from "vitest";
import { type ReplayOptions, replay } from "../../workers/keeper/audit/replay.ts";
import { duePolicies } from "../../workers/keeper/from-chain/due.ts";
import type { CoveredPolicy, History } from "../../workers/keeper/from-chain/history.ts";
import { roundsOf } from "../../workers/keeper/from-chain/read-rounds.ts";
import {
  at,
  BARRIER,
  clock,
  FEED,
  HIGH,
  historyOf,
  observedIn,
  policyOf,
  roundIn,
  roundsIn,
  timeOf,
} from "./support/keeper-history.ts";

/** The first and the last block of the third observation; undefined when three could not be made. */
async function third(history: History, policy = policyOf(), options?: ReplayOptions) {
  const found = await replay(policy, history, clock, options);
  return found && [Number(found.first), Number(found.last)];
}

test("three rounds, a minute apart: the third observation from the block after its round to the window's end", async () => {
  expect(await third(historyOf(roundsIn(300, 330, 360)))).toEqual([361, 1900]);
  const endsAt = timeOf(1900);
  expect(await third(historyOf(roundsIn(300, 330, 360)), policyOf({ endsAt: endsAt - 1n }))).toEqual([
    361, 1899,
  ]);
});

test("within five minutes of the purchase nothing can be observed", async () => {
  // The dwell ends with block 250: the first observation is in it, although its round is older.
  expect(await third(historyOf(roundsIn(120, 280, 310)))).toEqual([311, 1900]);
  // The rounds of the dwell are one observation: only the newest can be seen at its end.
  expect(await third(historyOf(roundsIn(120, 150, 180, 240, 280)))).toBeUndefined();
});

test("two rounds within a block, or before the next call, are one observation", async () => {
  const twice = [roundIn(300), roundIn(300, { logIndex: 1 }), roundIn(340)];
  expect(await third(historyOf(twice))).toBeUndefined();
  expect(await third(historyOf([...twice, roundIn(380)]))).toEqual([381, 1900]);
});

test("an observation a minute after the one before, and not a second sooner", async () => {
  // The first is in block 301. Rounds come faster, and the last of them stays.
  expect(await third(historyOf(roundsIn(300, 305, 340)))).toEqual([361, 1900]);
  // The second is in block 331 at the soonest, when the round of block 330 is the newest.
  expect(await third(historyOf(roundsIn(300, 330, 331)))).toBeUndefined();
});

test("a round counts by its time: one that is logged later and not newer is none", async () => {
  const same = roundIn(340, { updatedAt: timeOf(300) });
  expect(await third(historyOf([roundIn(300), same, roundIn(380)]))).toBeUndefined();
});

test("a round counts at the barrier and not above it; a round above it in between resets nothing", async () => {
  const above = roundIn(340, { price: HIGH });
  expect(await third(historyOf([roundIn(300), above, roundIn(380)]))).toBeUndefined();
  expect(await third(historyOf([roundIn(300), above, roundIn(380), roundIn(420)]))).toEqual([421, 1900]);
  const zero = roundIn(340, { price: 0n });
  expect(await third(historyOf([roundIn(300), zero, roundIn(380)]))).toBeUndefined();
});

test("feed before and after a block must allow the call: a low round of one block is no chance", async () => {
  const high = (block: number) => roundIn(block, { price: HIGH });
  expect(await third(historyOf([...roundsIn(300, 340), roundIn(380), high(381)]))).toBeUndefined();
  expect(await third(historyOf([...roundsIn(300, 340), roundIn(380), high(382)]))).toEqual([381, 381]);
  const twice = historyOf([...roundsIn(300, 340), roundIn(380), high(390), roundIn(420)]);
  expect((await replay(policyOf(), twice, clock))?.ranges).toEqual([
    { from: 381n, to: 389n },
    { from: 421n, to: 1900n },
  ]);
});

test("a call in the block of a newer round may come after it: that round is then used up", async () => {
  const endsDwell = roundsIn(240, 250, 290);
  expect(await third(historyOf(endsDwell))).toBeUndefined();
  expect(await third(historyOf([...endsDwell, roundIn(330)]))).toEqual([331, 1900]);
});

test("in the last second of the window the third observation pays, a second later it does not", async () => {
  const until = (endsAt: bigint) => third(historyOf(roundsIn(300, 340, 380)), policyOf({ endsAt }));
  expect(await until(timeOf(381))).toEqual([381, 381]);
  expect(await until(timeOf(381) - 1n)).toBeUndefined();
});

test("a round that is exactly an hour old can be observed, an older one not", async () => {
  const endsAt = timeOf(100) + 86_400n;
  expect(await third(historyOf(roundsIn(300, 340, 380)), policyOf({ endsAt }))).toEqual([381, 380 + 1800]);
  const old = (updatedAt: bigint) => historyOf([...roundsIn(5000, 5040), roundIn(6900, { updatedAt })]);
  expect(await third(old(timeOf(5101)), policyOf({ endsAt }))).toEqual([6901, 6901]);
  expect(await third(old(timeOf(5101) - 1n), policyOf({ endsAt }))).toBeUndefined();
});

test("an outage of the sequencer: nothing until an hour after it; what was observed before it counts", async () => {
  const outage = [
    at(350, { up: false, startedAt: timeOf(350) }),
    at(1000, { up: true, startedAt: timeOf(1000) }),
  ];
  const endsAt = timeOf(100) + 86_400n;
  const history = historyOf(roundsIn(300, 340, 380, 2790), { sequencer: outage });
  expect(timeOf(2800)).toBe(timeOf(1000) + 3_600n);
  expect(await third(history, policyOf({ endsAt }))).toEqual([2801, 2790 + 1800]);
  expect(await third(history)).toBeUndefined();
  expect(await third(history, policyOf(), { ignoreSequencer: true })).toEqual([381, 1900]);
  const unknown = historyOf(roundsIn(300, 340, 380), { sequencer: [at(50, undefined)] });
  expect(await third(unknown)).toBeUndefined();
});

test("a reset by others begins anew; one after the third observation ends the chances", async () => {
  const resets = [345n];
  expect(await third(historyOf(roundsIn(300, 340, 380)), policyOf(), { resets })).toBeUndefined();
  expect(await third(historyOf(roundsIn(300, 340, 380, 420)), policyOf(), { resets })).toEqual([421, 1900]);
  const late = [500n];
  expect(await third(historyOf(roundsIn(300, 340, 380)), policyOf(), { resets: late })).toEqual([381, 500]);
});

test("a policy whose key has come again: only before that block", async () => {
  const replaced = (block: bigint) => policyOf({ closing: { by: "replaced", block } });
  expect(await third(historyOf(roundsIn(300, 340, 380)), replaced(382n))).toEqual([381, 381]);
  expect(await third(historyOf(roundsIn(300, 340, 380)), replaced(381n))).toBeUndefined();
});

/** The rule of one block, without any of the code that is tested. */
function couldObserve(block: number, { terms }: CoveredPolicy, { rounds, sequencer }: History): boolean {
  const time = timeOf(block);
  return [block - 1, block].every((after) => {
    const round = rounds
      .get(FEED)
      ?.filter((one) => one.block <= after)
      .at(-1);
    const status = sequencer.filter((one) => one.block <= after).at(-1)?.value;
    return (
      round &&
      status?.up &&
      time - status.startedAt > 3_600n &&
      round.price > 0n &&
      round.price <= BARRIER &&
      round.updatedAt <= time &&
      time - round.updatedAt <= 3_600n &&
      time >= terms.startsAt + 300n &&
      time <= terms.endsAt
    );
  });
}

test("any history: block by block the same", async () => {
  const block = fc.integer({ min: 60, max: 2400 });
  const price = fc.constantFrom(BARRIER, BARRIER, HIGH);
  const shift = fc.oneof(fc.constant(0), fc.integer({ min: -4000, max: 100 }));
  const histories = fc.record({
    rounds: fc.array(fc.record({ block, price, shift }), { maxLength: 14 }),
    statuses: fc.array(fc.record({ block, up: fc.boolean(), shift }), { maxLength: 2 }),
    resets: fc.array(block, { maxLength: 2 }),
    seconds: fc.integer({ min: 600, max: 5000 }),
  });
  const byBlock = (a: { block: bigint }, b: { block: bigint }) => Number(a.block - b.block);
  let met = 0;
  await fc.assert(
    fc.asyncProperty(histories, async (drawn) => {
      const shifted = (one: { block: number; shift: number }) => timeOf(one.block) + BigInt(one.shift);
      const rounds = drawn.rounds.map((one) =>
        roundIn(one.block, { price: one.price, updatedAt: shifted(one) }),
      );
      const statuses = drawn.statuses.map((one) => at(one.block, { up: one.up, startedAt: shifted(one) }));
      const history = historyOf(rounds.sort(byBlock), { lastBlock: 2700, sequencer: statuses.sort(byBlock) });
      const policy = policyOf({ endsAt: timeOf(100) + BigInt(drawn.seconds) });
      const resets = drawn.resets.map(BigInt).sort((a, b) => Number(a - b));
      const roundTime = (after: number) =>
        history.rounds
          .get(FEED)
          ?.filter((one) => one.block <= after)
          .at(-1)?.updatedAt ?? 0n;
      let [count, time, observed] = [0, 0n, 0n];
      let expected: number[] | undefined;
      for (let one = 101; one <= 2700; one++) {
        const isNext = count === 0 || (roundTime(one - 1) > observed && timeOf(one) >= time + 60n);
        if (couldObserve(one, policy, history)) {
          if (expected) expected = [expected[0] ?? 0, one];
          else if (isNext) [count, time, observed] = [count + 1, timeOf(one), roundTime(one)];
          if (count === 3) expected ??= [one, one];
        }
        if (drawn.resets.includes(one)) {
          if (expected) break;
          count = 0;
        }
      }
      if (expected) met += 1;
      expect(await third(history, policy, { resets })).toEqual(expected);
    }),
    { numRuns: 400 },
  );
  expect(met).toBeGreaterThan(10);
});

test("a new phase of a feed answers with its aggregator's newest round, from its first block on", () => {
  const [old, later] = [pad("0xa", { size: 20 }), pad("0xb", { size: 20 })] as const;
  const answer = (aggregator: typeof old, block: number, price: bigint) => ({
    ...{ aggregator, block: BigInt(block), logIndex: 0, answer: price, updatedAt: timeOf(block) },
  });
  const rounds = roundsOf(
    [
      { phase: 1, aggregator: old, since: { block: 0n, logIndex: -1 } },
      { phase: 2, aggregator: later, since: { block: 230n, logIndex: 4 } },
    ],
    [answer(old, 200, 7n), answer(later, 210, 1n), answer(old, 235, 8n), answer(later, 240, 2n)],
  );
  expect(rounds.map(({ block, price, updatedAt }) => [block, price, updatedAt])).toEqual([
    [0n, 0n, 0n],
    [200n, 7n, timeOf(200)],
    [230n, 1n, timeOf(210)],
    [240n, 2n, timeOf(240)],
  ]);
});

test("due: the third observations first, then by the last moment; not before a minute and a newer round", async () => {
  const rounds = roundsIn(300, 340);
  const named = async (block: number, ...policies: CoveredPolicy[]) =>
    (await duePolicies(policies, historyOf(rounds, { lastBlock: block }), timeOf(block), clock)).map(
      ({ policyId, observation, lastMoment, changedIn }) => [policyId, observation, lastMoment, changedIn],
    );
  const { endsAt } = policyOf().terms;
  const first = policyOf({ policyId: 1n });
  const second = policyOf({ policyId: 2n, observations: [observedIn(320, 1)] });
  const last = policyOf({ policyId: 3n, observations: [observedIn(290, 1), observedIn(320, 2)] });
  const reset = policyOf({ policyId: 4n, observations: [observedIn(320, 2), observedIn(345, 0)] });
  const all = [first, second, last, reset];
  expect(await named(349, ...all)).toEqual([
    [1n, 1, endsAt - 120n, null],
    [4n, 1, endsAt - 120n, 345n],
  ]);
  expect(await named(350, ...all)).toEqual([
    [3n, 3, endsAt, 320n],
    [1n, 1, endsAt - 120n, null],
    [4n, 1, endsAt - 120n, 345n],
    [2n, 2, endsAt - 60n, 320n],
  ]);
  // The round of block 340 is no newer one for an observation after it, in the same block or later.
  expect(await named(400, policyOf({ observations: [observedIn(340, 1)] }))).toEqual([]);
  expect(await named(400, policyOf({ observations: [observedIn(340, 1, -1)] }))).toHaveLength(1);
  expect(await named(1900, first)).toHaveLength(1);
  expect(await named(1901, first)).toEqual([]);
});
