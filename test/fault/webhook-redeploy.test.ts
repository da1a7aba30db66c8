/**
 * What this proves: another build of the indexer, which reads everything anew into a schema of its own and takes the
 * views over, and the old one that takes them back, repeat nothing and skip nothing, and nothing is told to be reverted.
 * For a while each time the newest blocks are missing from the views.
 */
import { expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChangedIndexer } from "../src/support/changed-build.ts";
import { eventOf, startReceivers } from "../support/receiver.ts";
import { players } from "./support/event-maker.ts";
import {
  expectToldTheTruth,
  type Subscription,
  startWebhookWorld,
  subscribe,
  type WebhookWorld,
} from "./support/webhook-world.ts";

const seed = Number(process.env.FAULT_SEED || Math.floor(Math.random() * 2 ** 31));
const SWAP_MS = 180_000;

/** The schema that the views show. */
async function served({ connection }: WebhookWorld): Promise<string> {
  const [row] = await connection.sql<{ schema: string }[]>`
    select distinct table_schema as schema from information_schema.view_table_usage
    where view_schema = 'indexer' and table_schema like 'idx%'`;
  if (!row) throw new Error("the views show no schema");
  return row.schema;
}

/** Makes blocks until the views have moved. */
async function blocksUntilServed(world: WebhookWorld, wanted: (schema: string) => boolean): Promise<void> {
  await waitFor({
    what: "the views to move",
    probe: async () => {
      await world.maker.block();
      return wanted(await served(world)) ? true : undefined;
    },
    timeoutMs: SWAP_MS,
    intervalMs: 1000,
  });
  for (let n = 0; n < 5; n += 1) await world.maker.block();
}

/** Nothing failed on the way to the receivers, so nothing may arrive twice. */
function expectOnce(subscribers: readonly Subscription[]): void {
  for (const { requests } of subscribers) {
    const ids = requests.map(({ id }) => id);
    expect(ids).toHaveLength(new Set(ids).size);
    expect(requests.map((request) => eventOf(request).type)).not.toContain("event_reverted");
  }
}

test(`the indexer is deployed anew, and the old one comes back (FAULT_SEED=${seed})`, {
  timeout: 600_000,
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
  const old = await served(world);

  const changed = await startChangedIndexer(stack);
  await blocksUntilServed(world, (schema) => schema !== old);
  await expectToldTheTruth(world, subscribers);
  expectOnce(subscribers);

  await stack.stopService("indexer");
  for (let n = 0; n < 5; n += 1) await maker.block();
  await stack.start("indexer", { wait: false });
  await blocksUntilServed(world, (schema) => schema === old);
  await changed.stop();
  const { events } = await expectToldTheTruth(world, subscribers);
  expect(events).toBeGreaterThan(50);
  expectOnce(subscribers);
});
