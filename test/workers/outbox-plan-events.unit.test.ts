/** Which events one run of the outbox reverts and stores, and how far its cursor moves. */
import { keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import type { ChainEvent, StoredEvent } from "../../workers/outbox/event.ts";
import { type Findings, planEvents, withDuePolicies } from "../../workers/outbox/plan-events.ts";

const blockAt = (number: bigint) => ({
  ...{ number, timestamp: number * 2n },
  hash: keccak256(toHex(number)),
});

const bond = (number: bigint, index: number): ChainEvent => ({
  ...{
    type: "bond_minted",
    block: blockAt(number),
    log: { index, txHash: "0x1" },
    key: `${number}:${index}`,
  },
  ...{
    occurrence: 1,
    parties: [],
    data: { bondId: "1", holder: "0x", amount: "1", productId: null, policyId: null },
  },
});
const expiry = (number: bigint): ChainEvent => ({ ...bond(number, 0), type: "policy_expired", log: null });
const stored = (blockNumber: string): StoredEvent => ({
  ...{ seq: "1", id: "evt_1", type: "bond_minted", blockNumber, blockHash: "0x", txHash: "0x", logIndex: 0 },
  ...{ parties: [], body: "{}", indexed: false },
});
const nothing: Findings = {
  cursor: { finalBlock: 10n, finalTime: 20n, processedBlock: 40n, taken: undefined, version: "1" },
  finalized: 30n,
  upTo: 50n,
  verdicts: [],
  logs: { events: [], firstOmitted: undefined },
  expiries: { events: [], complete: true, more: false },
  held: false,
  limit: 200,
};
const order = (events: readonly ChainEvent[]) =>
  events.map(({ block, log }) => `${block.number}:${log?.index ?? "end"}`);

test("without new events the cursor follows the index, and never goes back", () => {
  expect(planEvents(nothing)).toMatchObject({
    finalBlock: 30n,
    processedBlock: 50n,
    more: false,
    timeIsFinal: true,
  });
  const back = planEvents({ ...nothing, finalized: 5n, upTo: 8n });
  expect(back).toMatchObject({ finalBlock: 10n, processedBlock: 40n });
});

const due = (number: bigint, index: number): ChainEvent => ({ ...bond(number, index), type: "policy_due" });

test("due policies are in chain order with the events of logs, after that of the same log, within the limit", () => {
  const logs = { events: [bond(42n, 1), bond(43n, 5)], firstOmitted: undefined };
  const all = withDuePolicies(logs, [due(42n, 0), due(42n, 1), due(43n, 5)], 5);
  expect(all.events.map(({ type, key }) => `${type} ${key}`)).toEqual([
    ...["policy_due 42:0", "bond_minted 42:1", "policy_due 42:1", "bond_minted 43:5", "policy_due 43:5"],
  ]);
  expect(all.firstOmitted).toBeUndefined();
  const three = withDuePolicies(logs, [due(42n, 0), due(42n, 1), due(43n, 5)], 3);
  expect([order(three.events), three.firstOmitted]).toEqual([["42:0", "42:1", "42:1"], 43n]);
  expect(withDuePolicies({ ...logs, firstOmitted: 44n }, [], 2).firstOmitted).toBe(44n);
});

test("a policy that is due since a final block is stored, and the cursor does not go back", () => {
  const logs = { events: [due(5n, 0)], firstOmitted: 6n };
  expect(planEvents({ ...nothing, logs })).toMatchObject({
    ...{ events: logs.events, finalBlock: 10n, processedBlock: 40n, more: true },
  });
});

test.each(["policy_due", "policy_expired"] as const)(
  "where a %s was in a block that was replaced, new events wait for the next run, which sees where it is now",
  (type) => {
    const event: StoredEvent = { ...stored("41"), type };
    const orphaned = { kind: "orphaned", event, canonicalBlockHash: "0x2" } as const;
    const logs = { events: [bond(43n, 0)], firstOmitted: undefined };
    expect(planEvents({ ...nothing, verdicts: [orphaned], logs })).toMatchObject({
      ...{ reverted: [orphaned], events: [], finalBlock: 10n, processedBlock: 40n, more: true },
    });
  },
);

test("events are in the order of blocks and logs, expiries last in their block", () => {
  const logs = { events: [bond(42n, 1), bond(44n, 0), bond(44n, 3)], firstOmitted: undefined };
  const expiries = { events: [expiry(42n), expiry(43n), expiry(44n)], complete: true, more: false };
  const plan = planEvents({ ...nothing, logs, expiries });
  expect(order(plan.events)).toEqual(["42:1", "42:end", "43:end", "44:0", "44:3", "44:end"]);
});

test("an event beyond the limit makes all later events wait", () => {
  const logs = { events: [bond(20n, 0), bond(21n, 0)], firstOmitted: 21n };
  const expiries = { events: [expiry(20n), expiry(21n)], complete: true, more: false };
  const plan = planEvents({ ...nothing, logs, expiries });
  expect(order(plan.events)).toEqual(["20:0", "20:end", "21:0"]);
  expect(plan).toMatchObject({ finalBlock: 20n, processedBlock: 40n, timeIsFinal: false, more: true });

  const full = { events: [expiry(20n), expiry(22n)], complete: false, more: true };
  const later = { events: [bond(22n, 0), bond(23n, 0)], firstOmitted: undefined };
  const other = planEvents({ ...nothing, logs: later, expiries: full });
  expect(order(other.events)).toEqual(["20:end", "22:0", "22:end"]);
  expect(other).toMatchObject({ finalBlock: 21n, timeIsFinal: false, more: true });
});

test("a block stays unfinal while the verdict on one of its events is unknown", () => {
  const event = stored("15");
  const final = (kind: "unknown" | "canonical") => planEvents({ ...nothing, verdicts: [{ kind, event }] });
  expect(final("unknown")).toMatchObject({ finalBlock: 14n, reverted: [], more: false });
  expect(final("canonical")).toMatchObject({ finalBlock: 30n, reverted: [], more: false });
  const orphaned = { kind: "orphaned", event, canonicalBlockHash: "0x2" } as const;
  expect(planEvents({ ...nothing, verdicts: [orphaned] })).toMatchObject({
    finalBlock: 30n,
    reverted: [orphaned],
    more: true,
  });
});

test("reversals come before new events, and within the limits", () => {
  const orphaned = (blockNumber: string) =>
    ({ kind: "orphaned", event: stored(blockNumber), canonicalBlockHash: "0x2" }) as const;
  const logs = { events: [bond(45n, 0)], firstOmitted: undefined };
  const verdicts = [orphaned("41"), orphaned("42"), orphaned("43")];
  const some = planEvents({ ...nothing, logs, verdicts, limit: 2 });
  expect(some).toMatchObject({ reverted: verdicts.slice(0, 2), events: [], finalBlock: 10n, more: true });
  const all = planEvents({ ...nothing, logs, verdicts });
  expect([all.reverted, order(all.events)]).toEqual([verdicts, ["45:0"]]);

  const held = planEvents({ ...nothing, logs, verdicts, held: true });
  expect(held).toMatchObject({ reverted: verdicts, events: [], finalBlock: 10n, processedBlock: 40n });
  expect(planEvents({ ...nothing, logs, held: true })).toMatchObject({ events: [], more: false });
});

test("a run takes the blocks up to its last complete one, unless an event may be off the chain or happen again", () => {
  const taken = (findings: Partial<Findings>) => planEvents({ ...nothing, ...findings }).takenBlock;
  expect(taken({})).toBe(50n);
  expect(taken({ logs: { events: [bond(42n, 0)], firstOmitted: 43n } })).toBe(42n);
  expect(taken({ held: true })).toBeUndefined();
  expect(taken({ expiries: { events: [], complete: false, more: false } })).toBeUndefined();
  const event = stored("45");
  expect(taken({ verdicts: [{ kind: "canonical", event: { ...event, indexed: true } }] })).toBe(50n);
  expect(taken({ verdicts: [{ kind: "canonical", event }] })).toBeUndefined();
  expect(taken({ verdicts: [{ kind: "unknown", event }] })).toBeUndefined();
  expect(taken({ verdicts: [{ kind: "orphaned", event, canonicalBlockHash: "0x2" }] })).toBeUndefined();
});
