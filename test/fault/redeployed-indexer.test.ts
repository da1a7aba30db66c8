/**
 * A new build of the indexer replaces the views with its own schema while the old one still runs, and the operator goes back to the
 * old one; 50 requests a second read the index. What this proves: no event is repeated, skipped or reverted; each answer has the rows
 * of its block, no block is older than one that was answered before, and there is no error; the old build, started again, takes the
 * views back only once the new one is gone.
 */
import { afterEach, expect, test } from "vitest";
import type { Child } from "../../scripts/local/processes.ts";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { servedSchema } from "../src/support/rows.ts";
import { startOwnPostgres } from "../support/own-postgres.ts";
import { eventOf, startReceivers } from "../support/receiver.ts";
import { drawSeed } from "../support/seed.ts";
import { players } from "./support/event-maker.ts";
import { expectAnswers, type IndexLoad, startIndexLoad } from "./support/index-reads.ts";
import { readFork } from "./support/index-truth.ts";
import {
  expectCorrectDeliveries,
  type Subscription,
  startWebhookWorld,
  subscribe,
  type WebhookWorld,
} from "./support/webhook-world.ts";

const seed = drawSeed("FAULT_SEED");
const SWAP_MS = 300_000;
/** A table that the old build does not have. */
const NOTE = `export const note = onchainTable("note", (t) => ({ id: t.integer().primaryKey(), text: t.text() }));\n`;

let load: IndexLoad | undefined;
afterEach(() => load?.stop());

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

/** Reads the index at a steady rate during a swap of builds, and until a read has the newest block. Each answer must be right. */
async function whileRead<Result>(
  { chain, stack }: WebhookWorld,
  swap: (readersSeeNewest: () => Promise<void>) => Promise<Result>,
): Promise<Result> {
  const reads = startIndexLoad(stack.apiUrl, players[0]?.address ?? "");
  load = reads;
  const readersSeeNewest = async () => reads.reached(await chain.client.getBlockNumber());
  await readersSeeNewest();
  const result = await swap(readersSeeNewest);
  await readersSeeNewest();
  expectAnswers(await reads.stop(), [await readFork(chain)]);
  return result;
}

test(`a new build of the indexer, then the old one again (FAULT_SEED=${seed})`, {
  timeout: 1_200_000,
}, async () => {
  // A server of its own: on the run's server another file's work could make the api answer 503.
  const { databaseUrl } = await startOwnPostgres("redeployed");
  const world = await startWebhookWorld({ seed, purchases: 12, databaseUrl });
  const { maker, stack } = world;
  const { sql } = world.connection;
  const receivers = await startReceivers();
  const subscribers: Subscription[] = [];
  for (const { address } of players) {
    subscribers.push(await subscribe(world, receivers.at(address), address));
  }
  await expect.poll(async () => (await stack.request("/api/v1/stats/burns")).status).toBe(200);
  for (let n = 0; n < 10; n += 1) await maker.block();
  const old = await servedSchema(sql);

  const changed = await whileRead(world, async () => {
    const started = await startChangedIndexer(stack, { schema: NOTE });
    await blocksUntilOther(world, old, started);
    return started;
  });
  const newer = await servedSchema(sql);
  await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  await expectOnce(world, subscribers);

  await whileRead(world, async (readersSeeNewest) => {
    const oldOne = await stack.restart("indexer");
    for (let n = 0; n < 5; n += 1) await maker.block();
    await readersSeeNewest();
    expect(await servedSchema(sql)).toBe(newer);
    await changed.stop();
    await blocksUntilOther(world, newer, oldOne);
    expect(await servedSchema(sql)).toBe(old);
  });
  const { events } = await expectCorrectDeliveries(world, subscribers, { timeoutMs: SWAP_MS });
  expect(events).toBeGreaterThan(25);
  await expectOnce(world, subscribers);
});
