/**
 * What this proves: no event is repeated, skipped or reverted when a new build of the indexer replaces the views with its own
 * schema, and when the operator goes back: the old build, started again, replaces them once the new one has been down for a while.
 */
import { expect, test } from "vitest";
import type { Child } from "../../scripts/local/processes.ts";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { servedSchema } from "../src/support/rows.ts";
import { eventOf, startReceivers } from "../support/receiver.ts";
import { players } from "./support/event-maker.ts";
import {
  expectCorrectDeliveries,
  type Subscription,
  startWebhookWorld,
  subscribe,
  type WebhookWorld,
} from "./support/webhook-world.ts";

const seed = Number(process.env.FAULT_SEED || Math.floor(Math.random() * 2 ** 31));
const SWAP_MS = 300_000;

/** Mines blocks until the views show the other build's schema, and some more. Until then a block has one event. */
async function blocksUntilOther(world: WebhookWorld, old: string | undefined, indexer: Child): Promise<void> {
  const meanwhile = () => world.maker.burns(1);
  await waitForOtherSchema(world.connection.sql, old, { indexer, meanwhile });
  for (let n = 0; n < 5; n += 1) await world.maker.block();
}

/** The outbox stored each event once. A delivery may arrive twice: on a busy machine a receiver takes longer than ten seconds. */
async function expectOnce({ connection }: WebhookWorld, subscribers: readonly Subscription[]): Promise<void> {
  const repeated = await connection.sql`select key from service.event group by key having count(*) > 1`;
  expect([...repeated]).toEqual([]);
  for (const { requests } of subscribers)
    expect(requests.map((request) => eventOf(request).type)).not.toContain("event_reverted");
}

test(`a new build of the indexer, then the old one again (FAULT_SEED=${seed})`, {
  timeout: 1_200_000,
}, async () => {
  console.log(`FAULT_SEED=${seed}`);
  const world = await startWebhookWorld({ seed });
  const { maker, stack } = world;
  const receivers = await startReceivers();
  const subscribers: Subscription[] = [];
  for (const { address } of players) {
    subscribers.push(await subscribe(world, receivers.at(address), address));
  }
  for (let n = 0; n < 10; n += 1) await maker.block();
  const { sql } = world.connection;
  const old = await servedSchema(sql);

  const changed = await startChangedIndexer(stack);
  await blocksUntilOther(world, old, changed);
  const other = await servedSchema(sql);
  await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  await expectOnce(world, subscribers);

  await stack.stopService("indexer");
  for (let n = 0; n < 5; n += 1) await maker.block();
  await changed.stop();
  await blocksUntilOther(world, other, await stack.start("indexer", { wait: false }));
  expect(await servedSchema(sql)).toBe(old);
  const { events } = await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  expect(events).toBeGreaterThan(50);
  await expectOnce(world, subscribers);
});
