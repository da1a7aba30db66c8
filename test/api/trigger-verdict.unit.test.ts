/** Verdicts and rounds at their edges, and where the index knows too little: the chain of a test cannot come there. */
import { expect, test } from "vitest";
import { type Facts, obstaclesOf, verdictOf } from "../../api/triggers/verdict.ts";
import { roundVerdict } from "../../api/triggers/window.ts";

const HASH = `0x${"1".repeat(64)}` as const;
const ADDRESS = `0x${"2".repeat(40)}` as const;
const PRICE = 58_500n * 10n ** 18n;
/** The highest answer of the feed that triggers. */
const LOW = 58_500n * 10n ** 8n;
const [CREATED, EXPIRES] = [20_000n, 30_000n];
const position = { blockNumber: 5n, logIndex: 1, blockHash: HASH, blockTimestamp: 25_000n, txHash: HASH };

const policy: Facts["policy"] = {
  ...{ productId: HASH, policyId: 7n, buyer: ADDRESS, paidBy: null, shield: ADDRESS, asset: HASH },
  ...{ strike: PRICE, triggerPrice: PRICE, coverage: 100_000_000n, premium: 1n, payout: 80_000_000n },
  ...{ priceSnapshot: 0n, createdAt: CREATED, expiresAt: EXPIRES },
  ...{ triggeredAt: null, markedExpiredAt: null, bondEpochId: null, bondAmount: null },
  ...{ observations: 0, observedAt: null, observedRound: null, observedIn: null },
  ...position,
};
const facts = (changes: Partial<Facts> = {}): Facts => ({
  ...{ now: 23_000n, policy, isDue: false, trigger: undefined },
  feed: { asset: HASH, phase: 1, roundId: 9n, answer: LOW, updatedAt: 22_000n },
  sequencer: { id: "sequencer", up: true, startedAt: 1n },
  ...changes,
});
const of = (terms: Partial<Facts["policy"]>) => ({ policy: { ...policy, ...terms } });
/** Observed so often, the last time at `at`. */
const observed = (observations: number, at: bigint) =>
  of({ observations, observedAt: at, observedRound: 22_000n, observedIn: 4n });
const feed = (answer: bigint, updatedAt = 22_000n) => ({
  feed: { asset: HASH, phase: 1, roundId: 9n, answer, updatedAt },
});
const unknownPhase = { asset: HASH, phase: 2, roundId: null, answer: null, updatedAt: null };
const down = { sequencer: { id: "sequencer", up: false, startedAt: 0n } } as const;

test.each<[string, Partial<Facts>, object]>([
  ["in the cover's first second", { now: CREATED }, { code: "dwell", from: "20300" }],
  ["in the last second of the dwell", { now: CREATED + 299n }, { code: "dwell", from: "20300" }],
  ["above the trigger price", feed(LOW + 1n), { code: "not_met" }],
  ["at an answer that is no price", feed(0n), { code: "not_met" }],
  ["at the trigger price", { isDue: true }, { code: "due", observation: 1, observedAt: null }],
  ["until when it leaves time for two more", { isDue: true }, { observeUntil: String(EXPIRES - 120n) }],
  [
    "after an observation",
    { isDue: true, ...observed(1, 22_500n) },
    { code: "due", observation: 2, observedAt: "22500", observeUntil: String(EXPIRES - 60n) },
  ],
  [
    "after two",
    { isDue: true, ...observed(2, 22_500n) },
    { code: "due", observation: 3, observeUntil: String(EXPIRES) },
  ],
  [
    "after a reset",
    { isDue: true, ...observed(0, 22_500n) },
    { code: "due", observation: 1, observedAt: null },
  ],
  ["at the last second of its price", { now: 25_600n, ...down }, { code: "blocked" }],
  ["a second later", { now: 25_601n }, { code: "stale", freshUntil: "25600" }],
  ["without the sequencer", { ...down, ...observed(1, 22_500n) }, { code: "blocked", observation: 2 }],
  ["whose round is observed", observed(1, 22_000n), { code: "waits_for_round", observation: 2 }],
  [
    "observed 59 seconds ago",
    { ...observed(2, 22_941n), ...feed(LOW, 22_990n) },
    { code: "waits_for_time", observation: 3, from: "23001" },
  ],
  ["with time for three observations", { now: EXPIRES - 120n, ...feed(LOW + 1n) }, { code: "not_met" }],
  ["without", { now: EXPIRES - 119n }, { code: "lost" }],
  ["with time for two more", { now: EXPIRES - 60n, ...observed(1, 22_500n) }, { code: "stale" }],
  ["without, after one", { now: EXPIRES - 59n, ...observed(1, 22_500n) }, { code: "lost" }],
  [
    "whose third would come too late",
    { now: EXPIRES - 10n, ...observed(2, EXPIRES - 59n) },
    { code: "lost" },
  ],
  ["in its last second", { now: EXPIRES, ...observed(2, EXPIRES - 60n) }, { code: "stale" }],
  [
    "after a reset near the end, with time for three",
    { now: EXPIRES - 130n, ...observed(0, EXPIRES - 131n), ...feed(LOW + 1n) },
    { code: "not_met" },
  ],
  ["after it", { now: EXPIRES + 1n, ...observed(2, EXPIRES) }, { code: "expired", closedAt: null }],
  [
    "that somebody closed",
    { now: EXPIRES + 1n, ...of({ markedExpiredAt: 40_000n }) },
    { code: "expired", closedAt: "40000" },
  ],
  ["with unknown terms", of({ asset: null, expiresAt: null, triggerPrice: null }), { missing: "terms" }],
  ["with an unknown strike", of({ strike: null, triggerPrice: null }), { code: "unknown", missing: "price" }],
  ["in an unknown phase", { feed: unknownPhase }, { code: "unknown", missing: "rounds" }],
  ["without a feed", { feed: null }, { code: "unknown", missing: "rounds" }],
])("the verdict on a policy %s", (_name, changes, expected) => {
  expect(verdictOf(facts(changes))).toMatchObject(expected);
});

test("a paid policy is triggered whatever else is known, by whoever made the observation that paid", () => {
  const event = { ...position, productId: HASH, policyId: 7n, buyer: ADDRESS, bondAmount: 80n, reason: HASH };
  const trigger = { event: { ...event, bondEpochId: null, submitter: ADDRESS }, submitter: ADDRESS };
  for (const changes of [{}, down, of({ strike: null, triggerPrice: null }), { now: EXPIRES + 1n }])
    expect(verdictOf(facts({ trigger, ...changes }))).toMatchObject({
      ...{ code: "triggered", submitter: ADDRESS, bondId: null, bondAmount: "80", reason: HASH },
      ...{ txHash: HASH, blockNumber: "5", logIndex: 1 },
    });
});

test("the sequencer is the only obstacle, and the grace period ends a second after its hour", () => {
  const sequencer = (up: boolean, startedAt: bigint) => ({ id: "sequencer" as const, up, startedAt });
  const codes = (changes: Partial<Facts>) =>
    obstaclesOf(facts(changes)).map(({ code, until }) => [code, until]);
  expect(codes({})).toEqual([]);
  expect(codes({ sequencer: undefined })).toEqual([["sequencer_unknown", null]]);
  expect(codes({ sequencer: sequencer(true, 19_400n) })).toEqual([["sequencer_grace", "23001"]]);
  expect(codes({ sequencer: sequencer(true, 19_399n) })).toEqual([]);
  expect(codes({ sequencer: sequencer(false, 0n) })).toEqual([["sequencer_down", null]]);
});

test.each([
  ["counts", { answer: 5_850_000_000_000n }],
  ["above_trigger_price", { answer: 5_850_000_000_001n }],
  ["invalid", { answer: 0n }],
  ["invalid", { answer: -1n }],
  ["counts", { updatedAt: CREATED }],
  ["before_window", { updatedAt: CREATED - 1n }],
  ["counts", { updatedAt: EXPIRES }],
  ["after_window", { updatedAt: EXPIRES + 1n }],
  ["phase_not_begun", { phase: 2 }],
] as const)("a round is %s with %o", (verdict, changes) => {
  const window = { coverFrom: CREATED, expiresAt: EXPIRES, triggerPrice: PRICE };
  const usual = { answer: 5_800_000_000_000n, updatedAt: 22_000n, phase: 1 };
  expect(roundVerdict({ ...usual, ...changes }, window, 1)).toBe(verdict);
});
