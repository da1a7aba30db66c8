import { expect, test } from "vitest";
import { ALWAYS_UP, type SequencerStatus } from "../../lib/chain/sequencer-status.ts";
import { type PriceReading, priceFault } from "../../workers/oracle/read-price.ts";

const NOW = 1_767_225_600n;
const HOUR = 3600n;

const good: PriceReading = {
  price: 60_000_00000000n,
  decimals: 8,
  updatedAt: NOW,
  sequencer: { up: true, startedAt: NOW - 2n * HOUR },
  blockTime: NOW,
};
const codeOf = (reading: Partial<PriceReading>, now = NOW) => priceFault({ ...good, ...reading }, now)?.code;

test.each<[name: string, reading: Partial<PriceReading>, now: bigint, code: string | undefined]>([
  ["a price of this second", {}, NOW, undefined],
  ["a price of an hour ago", { updatedAt: NOW - HOUR }, NOW, undefined],
  ["an older price", { updatedAt: NOW - HOUR - 1n }, NOW, "oracle_stale"],
  ["a price that is old by the writer's clock alone", {}, NOW + HOUR + 1n, "oracle_stale"],
  ["a price that is old by the block's time alone", { blockTime: NOW + HOUR + 1n }, NOW, "oracle_stale"],
  ["a price later than a slow clock, but not than its block", { updatedAt: NOW }, NOW - 60n, undefined],
  ["a price of the future", { updatedAt: NOW + 1n }, NOW, "oracle_stale"],
  ["a price of zero", { price: 0n }, NOW, "oracle_stale"],
  ["a price below zero", { price: -1n }, NOW, "oracle_stale"],
  ["a round that never ended", { updatedAt: 0n }, NOW, "oracle_stale"],
])("%s", (_, reading, now, code) => {
  expect(codeOf(reading, now)).toBe(code);
});

test.each<[name: string, sequencer: SequencerStatus, code: string | undefined]>([
  ["down", { up: false, startedAt: NOW - 2n * HOUR }, "sequencer_down"],
  ["up for an hour", { up: true, startedAt: NOW - HOUR }, "sequencer_down"],
  ["up for longer", { up: true, startedAt: NOW - HOUR - 1n }, undefined],
  ["without a first round", { up: true, startedAt: 0n }, "sequencer_down"],
  ["without a feed", ALWAYS_UP, undefined],
])("a sequencer %s", (_, sequencer, code) => {
  expect(codeOf({ sequencer })).toBe(code);
});

test("a sequencer that is down is the reason of a stale price", () => {
  const sequencer = { up: false, startedAt: NOW };
  expect(codeOf({ sequencer, updatedAt: NOW - 2n * HOUR })).toBe("sequencer_down");
});
