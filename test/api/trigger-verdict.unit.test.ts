/** Verdicts and rounds at their edges, and where the index knows too little: the chain of a test cannot come there. */
import { expect, test } from "vitest";
import { type Facts, obstaclesOf, verdictOf } from "../../api/triggers/verdict.ts";
import { roundVerdict } from "../../api/triggers/window.ts";
import { oracleProof } from "../../lib/chain/trigger.ts";

const HASH = `0x${"1".repeat(64)}` as const;
const ADDRESS = `0x${"2".repeat(40)}` as const;
const PRICE = 58_500n * 10n ** 18n;
const [CREATED, EXPIRES] = [20_000n, 30_000n];
const position = { blockNumber: 5n, logIndex: 1, blockHash: HASH, blockTimestamp: 25_000n, txHash: HASH };

const policy: Facts["policy"] = {
  ...{ productId: HASH, policyId: 7n, buyer: ADDRESS, paidBy: null, shield: ADDRESS, asset: HASH },
  ...{ strike: PRICE, triggerPrice: PRICE, coverage: 100_000_000n, premium: 1n, payout: 80_000_000n },
  ...{ priceSnapshot: 0n, createdAt: CREATED, expiresAt: EXPIRES },
  ...{ triggeredAt: null, markedExpiredAt: null, bondEpochId: null, bondAmount: null },
  ...position,
};
const round = (roundId: bigint, updatedAt = 22_000n) => ({
  roundId: String(roundId),
  answer: "5800000000000",
  updatedAt: String(updatedAt),
});
const three = [round(1n), round(2n), round(3n)];

const facts = (changes: Partial<Facts> = {}): Facts => ({
  ...{ now: 23_000n, policy, isDue: false, fallen: null, paused: false, trigger: undefined },
  feed: { asset: HASH, phase: 1, roundId: 9n, answer: 1n, updatedAt: 1n },
  sequencer: { id: "sequencer", up: true, startedAt: 1n },
  ...changes,
});
const of = (terms: Partial<Facts["policy"]>) => ({ policy: { ...policy, ...terms } });
const unknownPhase = { asset: HASH, phase: 2, roundId: null, answer: null, updatedAt: null };

test.each<[string, Partial<Facts>, object]>([
  ["in the cover's first second", { now: CREATED }, { code: "not_met", missing: 3 }],
  ["with two rounds", { fallen: three.slice(1) }, { code: "not_met", missing: 1 }],
  [
    "with three rounds",
    { fallen: three, isDue: true },
    { code: "due", validUntil: "25600", oracleProof: oracleProof([1n, 2n, 3n]) },
  ],
  [
    "with three rounds near the end",
    { fallen: [...three.slice(1), round(4n, 29_000n)], isDue: true, now: EXPIRES },
    { code: "due", validUntil: String(EXPIRES) },
  ],
  ["an hour after the newest", { fallen: three, now: 25_600n }, { code: "blocked", freshUntil: "25600" }],
  ["a second later", { fallen: three, now: 25_601n }, { code: "met_but_stale", freshUntil: "25600" }],
  [
    "of rounds whose newest has the lowest id",
    { fallen: [round(1n, 26_000n), round(2n), round(3n)], now: 25_601n },
    { code: "blocked", freshUntil: "29600" },
  ],
  ["in the last second", { now: EXPIRES }, { code: "not_met" }],
  ["after it", { now: EXPIRES + 1n }, { code: "expired", met: false, closedAt: null }],
  [
    "after it, with three rounds",
    { now: EXPIRES + 1n, fallen: three, ...of({ markedExpiredAt: 40_000n }) },
    { code: "expired", met: true, closedAt: "40000" },
  ],
  ["with unknown terms", of({ asset: null, expiresAt: null, triggerPrice: null }), { missing: "terms" }],
  ["with an unknown strike", of({ strike: null, triggerPrice: null }), { code: "unknown", missing: "price" }],
  ["in an unknown phase", { feed: unknownPhase }, { code: "unknown", missing: "rounds" }],
  ["without a feed", { feed: null }, { code: "unknown", missing: "rounds" }],
  [
    "in an unknown phase, with three rounds",
    { feed: unknownPhase, fallen: three, isDue: true },
    { code: "due" },
  ],
])("the verdict on a policy %s", (_name, changes, expected) => {
  expect(verdictOf(facts(changes))).toMatchObject(expected);
});

test("a trigger without its submission has no submitter, and more rounds than three prove nothing", () => {
  const event = {
    ...position,
    productId: HASH,
    policyId: 7n,
    buyer: ADDRESS,
    bondAmount: 80n,
    reason: HASH,
    submitter: ADDRESS,
  };
  const trigger = { event: { ...event, bondEpochId: null }, submitter: null };
  const verdictWith = (earlierRounds: string[] | null) =>
    verdictOf(facts({ trigger: { ...trigger, earlierRounds } }));
  expect(verdictWith(["1", "2", "3"])).toMatchObject({ code: "triggered", submitter: null, bondId: null });
  expect(verdictWith(["1", "2", "3"])).toMatchObject({ provenBy: ["1", "2", "3"] });
  for (const others of [["1", "2", "3", "4"], ["1", "2"], null])
    expect(verdictWith(others)).toMatchObject({ provenBy: null });
});

test("obstacles are all named, and the grace period ends a second after its hour", () => {
  const sequencer = (up: boolean, startedAt: bigint) => ({ id: "sequencer" as const, up, startedAt });
  const codes = (changes: Partial<Facts>) =>
    obstaclesOf(facts(changes)).map(({ code, until }) => [code, until]);
  expect(codes({})).toEqual([]);
  expect(codes({ sequencer: undefined })).toEqual([["sequencer_unknown", null]]);
  expect(codes({ sequencer: sequencer(true, 0n) })).toEqual([["sequencer_unknown", null]]);
  expect(codes({ sequencer: sequencer(true, 19_400n) })).toEqual([["sequencer_grace", "23001"]]);
  expect(codes({ sequencer: sequencer(true, 19_399n) })).toEqual([]);
  expect(codes({ sequencer: sequencer(false, 0n), ...of({ payout: 999_999n }) })).toEqual([
    ["sequencer_down", null],
    ["payout_too_small", null],
  ]);
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
