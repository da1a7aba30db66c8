/**
 * What this proves: an event is reverted once its block was replaced, and no earlier (`support/reversals.ts`); a transaction that
 * a reorganisation moves to another block, or back to its block, becomes a new event
 * after the reversal of the old one; one that takes away what made a policy due reverts the event, and a policy that is due by
 * another log has another event.
 */
import type { Hex } from "viem";
import { beforeAll, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { eventId } from "../../lib/webhooks/events.ts";
import { openProtocol, snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { revertTo } from "../support/protocol-actions.ts";
import { type DuePolicies, openDuePolicies } from "./support/due-policies.ts";
import { alice, type ReorgWorld, startReorgWorld } from "./support/reorganisations.ts";
import { reversalTests } from "./support/reversals.ts";

const DWELL = 300n;

let world: ReorgWorld;
let policies: DuePolicies;
/** The newest policy of earlier tests: a reorganisation may leave one that a later fall makes due. */
let earlier: bigint;

beforeAll(async () => {
  // Each test expects the reversal first, however slow the machine is.
  world = await startReorgWorld({ holdMs: 60_000 });
  policies = openDuePolicies(world.chain, alice);
});
beforeEach(async () => {
  // A round that a reorganisation moved may have a later time than its block: later policies begin after it.
  await policies.block(() => [], 100n);
  await world.beginTest();
  earlier = policies.newest();
});

describe("the reversal of an event", () => reversalTests(() => world));

test("a transaction in a later block is a new event, after the reversal", async () => {
  const { transactionHash } = await world.issueBond(4n);
  const bytes = await world.rawTransaction(transactionHash);
  await world.processed();
  await world.markAsSent();
  await world.mine();
  await world.reorganise(2, [[bytes, 1]]);
  await world.untilReverted();
  await world.processed();
  const events = await world.newEvents();
  expect(events).toMatchObject([
    { type: "bond_minted", txHash: transactionHash, reverted: true },
    { type: "event_reverted" },
    { type: "bond_minted", txHash: transactionHash, reverted: false, occurrence: 1 },
  ]);
  expect(new Set(events.map(({ id }) => id)).size).toBe(3);
  expect(events[0]?.body.data).toEqual(events[2]?.body.data);
});

test("a transaction in an earlier block is a new event after the reversal, though the index reads it first", async () => {
  // The index reads the new blocks one by one: repeat, so that the outbox runs between two of them.
  for (const usdAmount of [21n, 22n, 23n]) {
    const seen = (await world.events()).at(-1)?.seq ?? 0;
    const newEvents = async () => (await world.events()).filter(({ seq }) => seq > seen);
    await world.mine(4);
    const { transactionHash } = await world.issueBond(usdAmount);
    const bytes = await world.rawTransaction(transactionHash);
    await world.processed();
    await world.markAsSent();
    await world.reorganise(5, [[bytes, 0]]);
    await world.untilEvents(3, newEvents);
    const events = await newEvents();
    expect(events).toMatchObject([
      { type: "bond_minted", txHash: transactionHash, reverted: true },
      { type: "event_reverted", reverts: events[0]?.seq },
      { type: "bond_minted", txHash: transactionHash, reverted: false },
    ]);
    expect(events[2]?.blockNumber).toBe((events[0]?.blockNumber ?? 0) - 4);
  }
});

test("a shorter chain does not delay new events", async () => {
  await world.stopOutbox();
  world.startOutbox(600_000);
  const protocol = openProtocol(world.chain.deployment, world.chain.url);
  const before = await snapshot(protocol);
  await world.mine(5);
  await world.issueBond(24n);
  await world.processed();
  await revertTo(protocol, before);
  await world.issueBond(25n);
  await world.untilEvents(2);
  expect((await world.newEvents()).map(({ reverted }) => reverted)).toEqual([false, false]);
  await world.mine(6);
  await world.untilReverted();
  await world.stopOutbox();
  world.startOutbox();
});

test("a block that returns after its reversal is a further occurrence of the event", async () => {
  const { client, deployment, url } = world.chain;
  const protocol = openProtocol(deployment, url);
  const before = await snapshot(protocol);
  const { timestamp } = await client.getBlock();
  // The same transaction with the same timestamp and base fee makes the same block.
  async function inSameBlock<T>(send: () => Promise<T>): Promise<T> {
    await client.setNextBlockTimestamp({ timestamp: timestamp + 100n });
    await client.setNextBlockBaseFeePerGas({ baseFeePerGas: 1_000_000_000n });
    return send();
  }
  const first = await inSameBlock(() => world.issueBond(5n));
  const bytes = await world.rawTransaction(first.transactionHash);
  await world.processed();
  await world.markAsSent();
  await revertTo(protocol, before);
  const again = await snapshot(protocol);
  await world.mine(2);
  await world.untilReverted();
  // When a block disappears while Ponder reads it, Ponder asks for it for a minute.
  await world.rows.caughtUp(client);
  await revertTo(protocol, again);
  const hash = await inSameBlock(() => client.sendRawTransaction({ serializedTransaction: bytes }));
  // Anvil answers before the transaction is in its block.
  const second = await client.waitForTransactionReceipt({ hash });
  expect(second.blockHash).toBe(first.blockHash);
  await world.mine(3);
  await world.untilEvents(3);
  const events = await world.newEvents();
  expect(events).toMatchObject([
    { type: "bond_minted", occurrence: 1, reverted: true },
    { type: "event_reverted" },
    { type: "bond_minted", occurrence: 2, reverted: false },
  ]);
  expect(events[2]?.key).toBe(events[0]?.key);
  expect(events[2]?.id).toBe(eventId(8453, String(events[0]?.key), 2));
});

const reverted = z.object({ eventType: z.literal("policy_due"), data: z.object({ policyId: z.string() }) });
/** The new events of policies that are due, and the reversals of such events, without policies of earlier tests. */
const dueEvents = async () =>
  (await world.newEvents()).filter(({ type, body: { data } }) => {
    const policyId = type === "policy_due" ? data.policyId : reverted.safeParse(data).data?.data.policyId;
    return policyId !== undefined && BigInt(String(policyId)) > earlier;
  });
const summary = async () =>
  (await dueEvents()).map(({ type, reverted }) => `${type}${reverted ? " reverted" : ""}`);
/** A policy of an earlier test may be due by the same round. */
const untilDueReverted = () =>
  expect.poll(async () => (await dueEvents()).filter(({ reverted }) => reverted)).toHaveLength(1);
/** Buys a policy and lets the price fall after the dwell, above quiet blocks. @returns the round's transaction. */
async function makeDue(): Promise<Hex> {
  await policies.buy();
  await world.mine(2);
  await policies.block(() => [], DWELL);
  const { transactionHash } = await policies.fall();
  const round = await world.rawTransaction(transactionHash);
  await world.processed();
  expect(await summary()).toEqual(["policy_due"]);
  return round;
}

test("a reorganisation that takes the round away sends event_reverted, and another round makes it due again", async () => {
  await makeDue();
  await world.markAsSent();
  await world.reorganise(1);
  await untilDueReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted"]);
  const again = await policies.fall();
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
  const [first, reversal, second] = await dueEvents();
  expect(reversal?.body.data).toMatchObject({
    ...{ eventId: first?.id, eventType: "policy_due", data: first?.body.data },
  });
  expect(second).toMatchObject({ key: first?.key, occurrence: 2, blockHash: again.blockHash });
  expect(second?.id).not.toBe(first?.id);
});

test("a round that is not sent yet is reverted in silence", async () => {
  await makeDue();
  await world.reorganise(1);
  await untilDueReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted"]);
});

test("a round that moves to a later block has another id, after the reversal of the first", async () => {
  const round = await makeDue();
  await world.markAsSent();
  await world.mine();
  await world.reorganise(2, [[round, 1]]);
  // The round's own time, which may be later than that of its new block.
  await policies.block(() => [], 400n);
  await untilDueReverted();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
  const [first, , second] = await dueEvents();
  expect(second?.txHash).toBe(first?.txHash);
  expect(second?.blockNumber).toBe((first?.blockNumber ?? 0) + 1);
  expect(second?.id).not.toBe(first?.id);
  expect({ ...second?.body.data, dueAt: null }).toEqual({ ...first?.body.data, dueAt: null });
});

test("a reorganisation that takes the first low round away: the policy is due with one that is mined later", async () => {
  await makeDue();
  await policies.fall();
  await world.processed();
  await world.markAsSent();
  await world.reorganise(2);
  await untilDueReverted();
  await policies.fall();
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted", "policy_due"]);
});

test("a reorganisation that takes the purchase away reverts the event", async () => {
  await makeDue();
  await world.markAsSent();
  await world.reorganise(5);
  await untilDueReverted();
  await policies.fall(DWELL);
  await world.processed();
  expect(await summary()).toEqual(["policy_due reverted", "event_reverted"]);
});

test("an outbox that starts again before the dwell is over, and after it, stores the event once", async () => {
  await world.stopOutbox();
  await policies.buy();
  await policies.fall();
  world.startOutbox();
  await world.processed();
  expect(await summary()).toEqual([]);
  await world.stopOutbox();
  await policies.block(() => [], DWELL);
  await world.mine(2);
  world.startOutbox();
  await world.processed();
  await world.stopOutbox();
  world.startOutbox();
  await world.mine(2);
  await world.processed();
  expect(await summary()).toEqual(["policy_due"]);
});
