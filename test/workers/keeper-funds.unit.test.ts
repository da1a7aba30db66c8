/** What the keeper begins when ether, gas budget or the node do not suffice for all of its tasks. */
import { expect, test } from "vitest";
import { upkeepGas } from "../../lib/chain/trigger.ts";
import {
  affordable,
  batchesOf,
  type Funds,
  payableCodeGas,
  payableGas,
  type Ready,
} from "../../workers/keeper/batches.ts";
import { judgedResults } from "../../workers/keeper/simulate.ts";
import { failedLast } from "../../workers/keeper/startable-tasks.ts";
import { triggerOf } from "./support/keeper-triggers.ts";

const funds = (more: Partial<Funds> = {}): Funds => ({
  ...{ balance: 10_000n, spent: 0n, spentOnCode: 0n, gasBudget: 10_000n, maxFee: 2n },
  ...more,
});
const ready = (n: number, more: Partial<Ready> = {}): Ready => ({
  ...{ task: triggerOf(n), gas: 300_000n, alone: false, runsCodeOf: null },
  ...more,
});

test("a trigger may use what is left of balance and budget", () => {
  expect(payableGas(funds(), "trigger")).toBe(5_000n);
  expect(payableGas(funds({ balance: 1_000n }), "trigger")).toBe(500n);
  expect(payableGas(funds({ spent: 9_000n }), "trigger")).toBe(500n);
  expect(payableGas(funds({ balance: -5n }), "trigger")).toBe(0n);
});

test("expired policies and the redemption queue leave half of the day's budget to triggers", () => {
  for (const purpose of ["expire", "queue"] as const) {
    expect(payableGas(funds({ spent: 4_000n }), purpose)).toBe(500n);
    expect(payableGas(funds({ spent: 5_000n }), purpose)).toBe(0n);
  }
});

test("payouts that run their receivers' code may use a tenth of the day's budget, and nothing else takes of it", () => {
  expect(payableCodeGas(funds())).toBe(500n);
  expect(payableCodeGas(funds({ spent: 9_000n }))).toBe(500n);
  expect(payableCodeGas(funds({ spent: 9_900n }))).toBe(50n);
  expect(payableCodeGas(funds({ spent: 900n, spentOnCode: 900n }))).toBe(50n);
  expect(payableCodeGas(funds({ spent: 1_001n, spentOnCode: 1_001n }))).toBe(0n);
  expect(payableGas(funds({ spent: 1_000n, spentOnCode: 1_000n }), "trigger")).toBe(4_500n);
});

test("with ether for three triggers, forty due ones are begun three at a time", () => {
  const batches = batchesOf(
    Array.from({ length: 40 }, (_, n) => ready(n)),
    upkeepGas(3),
  );
  expect(batches[0]?.tasks).toHaveLength(3);
  expect(affordable(batches, upkeepGas(3))).toEqual(batches.slice(0, 1));
});

test("a call that costs too much does not stop cheaper ones after it", () => {
  const queue = { purpose: "queue", isShared: false } as const;
  const [large, small] = [triggerOf(0, queue), triggerOf(1, queue)];
  const batches = batchesOf([ready(0, { task: large, gas: 2_000_000n }), ready(1, { task: small })]);
  expect(affordable(batches, 1_000_000n).map(({ tasks }) => tasks)).toEqual([[small]]);
});

test("tasks that have failed come behind all that have not, in the order of their deadlines", () => {
  const startable = [3, 0, 1, 0].map((failures, n) => ({
    task: triggerOf(n),
    record: { failures, waitsToRetry: false, transaction: null },
  }));
  expect(failedLast(startable).map(({ task }) => Number(task.policyId))).toEqual([1, 3, 0, 2]);
});

test("a call that the node cannot judge holds up no other; a node that judges none does not answer", () => {
  const works = { status: "fulfilled", value: { kind: "works", gas: 1n } } as const;
  const refused = { status: "rejected", reason: new Error("no such state") } as const;
  expect(judgedResults([refused, works])).toEqual([{ kind: "unknown" }, { kind: "works", gas: 1n }]);
  expect(() => judgedResults([refused, refused])).toThrow("no such state");
  expect(judgedResults([])).toEqual([]);
});
