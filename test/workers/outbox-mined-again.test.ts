/**
 * What this proves: a transaction that a reorganisation moves to another block, or back to its block, becomes a new event
 * after the reversal of the old one.
 */
import { beforeAll, beforeEach, expect, test } from "vitest";
import { eventId } from "../../lib/webhooks/events.ts";
import { openProtocol, snapshot } from "../../scripts/local/protocol/actions/index.ts";
import { revertTo } from "../support/protocol-actions.ts";
import { type ReorgWorld, startReorgWorld } from "./support/reorganisations.ts";

let world: ReorgWorld;

beforeAll(async () => {
  // Each test expects the reversal first, however slow the machine is.
  world = await startReorgWorld({ holdMs: 60_000 });
});

beforeEach(() => world.beginTest());

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
  await world.outbox.stop();
  const outbox = world.startOutbox(600_000);
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
  await outbox.stop();
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
