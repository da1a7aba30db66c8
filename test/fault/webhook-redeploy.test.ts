/**
 * What this proves: no event is repeated, skipped or reverted when a new build of the indexer replaces the views with its own
 * schema, and when the old build replaces them again. Each time the views lack the newest blocks for a while.
 */
import { expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChangedIndexer } from "../src/support/changed-build.ts";
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

/** The schema behind the views. */
async function servedSchema({ connection }: WebhookWorld): Promise<string> {
  const [row] = await connection.sql<{ schema: string }[]>`
    select distinct table_schema as schema from information_schema.view_table_usage
    where view_schema = 'indexer' and table_schema like 'idx%'`;
  if (!row) throw new Error("there are no views of an index");
  return row.schema;
}

/** Mines blocks until the views show the wanted schema. */
async function blocksUntilServed(world: WebhookWorld, wanted: (schema: string) => boolean): Promise<void> {
  await waitFor({
    what: "the views of the wanted schema",
    probe: async () => {
      await world.maker.block();
      return wanted(await servedSchema(world)) ? true : undefined;
    },
    timeoutMs: SWAP_MS,
    intervalMs: 1000,
  });
  for (let n = 0; n < 5; n += 1) await world.maker.block();
}

/** No receiver failed, so no event may arrive twice. */
function expectOnce(subscribers: readonly Subscription[]): void {
  for (const { requests } of subscribers) {
    const ids = requests.map(({ id }) => id);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(requests.map((request) => eventOf(request).type)).not.toContain("event_reverted");
  }
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
  const old = await servedSchema(world);

  const changed = await startChangedIndexer(stack);
  await blocksUntilServed(world, (schema) => schema !== old);
  await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  expectOnce(subscribers);

  await stack.stopService("indexer");
  for (let n = 0; n < 5; n += 1) await maker.block();
  await stack.start("indexer", { wait: false });
  await blocksUntilServed(world, (schema) => schema === old);
  await changed.stop();
  const { events } = await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  expect(events).toBeGreaterThan(50);
  expectOnce(subscribers);
});
