/** The search for the block in which a cover ended, and what a pass takes of what it has found. */
import fc from "fast-check";
import { keccak256, toHex } from "viem";
import { expect, test } from "vitest";
import { firstBlockAfter } from "../../workers/outbox/blocks.ts";
import type { Block, ChainEvent, StoredEvent } from "../../workers/outbox/event.ts";
import { type Findings, planPass } from "../../workers/outbox/plan.ts";

const blockAt = (number: bigint, timestamp = number * 2n): Block => ({
  ...{ number, timestamp },
  hash: keccak256(toHex(number)),
});

test("the block in which a time has passed is the first one after it, and is found in few questions", async () => {
  const steps = fc.array(fc.bigInt(0n, 20n), { minLength: 2, maxLength: 300 });
  await fc.assert(
    fc.asyncProperty(steps, fc.nat(), async (gaps, pick) => {
      let time = 0n;
      const chain = gaps.map((gap, number) => {
        time += gap;
        return blockAt(BigInt(number), time);
      });
      const [low, high] = [chain[0], chain.at(-1)];
      if (!low || !high || high.timestamp === low.timestamp) return;
      const wanted = low.timestamp + (BigInt(pick) % (high.timestamp - low.timestamp));
      let asked = 0;
      const found = await firstBlockAfter(wanted, low.number, high, async (number) => {
        asked += 1;
        return chain[Number(number)];
      });
      expect(found).toEqual(chain.find(({ timestamp }) => timestamp > wanted));
      expect(asked).toBeLessThanOrEqual(2 * Math.ceil(Math.log2(chain.length)) + 1);
    }),
  );
});

test("a block that the node does not have leaves it open", async () => {
  const low = 0n;
  expect(await firstBlockAfter(5n, low, blockAt(100n), async () => undefined)).toBeUndefined();
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
  ...{ parties: [], body: "{}" },
});
const nothing: Findings = {
  cursor: { finalBlock: 10n, finalTime: 20n, passedBlock: 40n, pass: "1" },
  finalized: 30n,
  upTo: 50n,
  verdicts: [],
  logs: { events: [], untaken: undefined },
  expiries: { events: [], complete: true, more: false },
  held: false,
  room: { events: 200, burns: 200 },
};
const order = (events: readonly ChainEvent[]) =>
  events.map(({ block, log }) => `${block.number}:${log?.index ?? "end"}`);

test("without anything new the cursor follows the index, and never falls behind itself", () => {
  expect(planPass(nothing)).toMatchObject({
    finalBlock: 30n,
    passedBlock: 50n,
    again: false,
    timeIsFinal: true,
  });
  const back = planPass({ ...nothing, finalized: 5n, upTo: 8n });
  expect(back).toMatchObject({ finalBlock: 10n, passedBlock: 40n });
});

test("events are ordered by block and log, and what time did comes last in its block", () => {
  const logs = { events: [bond(42n, 1), bond(44n, 0), bond(44n, 3)], untaken: undefined };
  const expiries = { events: [expiry(42n), expiry(43n), expiry(44n)], complete: true, more: false };
  const plan = planPass({ ...nothing, logs, expiries });
  expect(order(plan.events)).toEqual(["42:1", "42:end", "43:end", "44:0", "44:3", "44:end"]);
});

test("what found no room makes what comes after it wait, in final blocks and others", () => {
  const logs = { events: [bond(20n, 0), bond(21n, 0)], untaken: 21n };
  const expiries = { events: [expiry(20n), expiry(21n)], complete: true, more: false };
  const plan = planPass({ ...nothing, logs, expiries });
  expect(order(plan.events)).toEqual(["20:0", "20:end", "21:0"]);
  expect(plan).toMatchObject({ finalBlock: 20n, passedBlock: 40n, timeIsFinal: false, again: true });

  const full = { events: [expiry(20n), expiry(22n)], complete: false, more: true };
  const later = { events: [bond(22n, 0), bond(23n, 0)], untaken: undefined };
  const other = planPass({ ...nothing, logs: later, expiries: full });
  expect(order(other.events)).toEqual(["20:end", "22:0", "22:end"]);
  expect(other).toMatchObject({ finalBlock: 21n, timeIsFinal: false, again: true });
});

test("a block whose event nobody could answer for does not become final; one that stands, or is gone, does", () => {
  const event = stored("15");
  const final = (kind: "unknown" | "stands") => planPass({ ...nothing, verdicts: [{ kind, event }] });
  expect(final("unknown")).toMatchObject({ finalBlock: 14n, reverted: [], again: false });
  expect(final("stands")).toMatchObject({ finalBlock: 30n, reverted: [], again: false });
  const gone = { kind: "gone", event, canonicalBlockHash: "0x2" } as const;
  expect(planPass({ ...nothing, verdicts: [gone] })).toMatchObject({
    finalBlock: 30n,
    reverted: [gone],
    again: true,
  });
});

test("what is taken back comes before anything new, as much at once as there is room for", () => {
  const gone = (blockNumber: string, type: StoredEvent["type"] = "bond_minted") =>
    ({
      kind: "gone",
      event: { ...stored(blockNumber), type },
      canonicalBlockHash: "0x2",
    }) as const;
  const logs = { events: [bond(45n, 0)], untaken: undefined };
  const verdicts = [gone("41"), gone("42"), gone("43")];
  const some = planPass({ ...nothing, logs, verdicts, room: { events: 2, burns: 2 } });
  expect(some).toMatchObject({ reverted: verdicts.slice(0, 2), events: [], finalBlock: 10n, again: true });
  const all = planPass({ ...nothing, logs, verdicts });
  expect([all.reverted, order(all.events)]).toEqual([verdicts, ["45:0"]]);
  const burns = [gone("41", "token_burned"), gone("42"), gone("43", "token_burned")];
  const few = planPass({ ...nothing, logs, verdicts: burns, room: { events: 200, burns: 0 } });
  expect(few.reverted).toEqual(burns.slice(0, 1));

  const held = planPass({ ...nothing, logs, verdicts, held: true });
  expect(held).toMatchObject({ reverted: verdicts, events: [], finalBlock: 10n, passedBlock: 40n });
  expect(planPass({ ...nothing, logs, held: true })).toMatchObject({ events: [], again: false });
});

test("of burns that many want few are taken at once, and what follows them waits", () => {
  const burn = (number: bigint): ChainEvent => ({ ...bond(number, 0), type: "token_burned" });
  const logs = { events: [burn(42n), bond(43n, 0), burn(44n), bond(45n, 0)], untaken: undefined };
  const plan = planPass({ ...nothing, finalized: 50n, logs, room: { events: 200, burns: 1 } });
  expect(order(plan.events)).toEqual(["42:0", "43:0"]);
  expect(plan).toMatchObject({ finalBlock: 43n, passedBlock: 43n, again: true });
});
