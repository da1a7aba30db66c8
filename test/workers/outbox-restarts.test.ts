/**
 * What this proves: whatever fails in indexer and writers, each event of the chain is stored once, in chain order, with one
 * delivery for its subscription; and while there is no index, the outbox waits without log lines.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitter-chain.ts";
import { servedSchema } from "../src/support/rows.ts";
import { issueBonds, keysOf, keysOnChain } from "./support/bonds.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice: Address = "0x00000000000000000000000000000000000a11ce";

let chain: EmitterChain;
let world: OutboxWorld;
let subscription: number;
let amount = 0n;

beforeAll(async () => {
  chain = await startEmitterChain();
  world = await startOutboxWorld(chain, { indexer: false });
  subscription = await world.subscribe(alice);
  world.start();
});

const bonds = (count: number) => Array.from({ length: count }, () => ++amount);

/** Expects one event and one delivery for each bond on the chain, and no others. */
async function expectEventsOfChain(): Promise<void> {
  const wanted = await keysOnChain(chain);
  const keys = async () => keysOf(await world.events());
  await expect.poll(keys).toHaveLength(wanted.length);
  const events = await world.events();
  expect(keysOf(events)).toEqual(wanted);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const deliveries = await world.deliveries();
  expect(deliveries.filter(({ webhookId }) => webhookId === subscription).map(({ seq }) => seq)).toEqual(
    events.map(({ seq }) => seq),
  );
  expect(events.filter(({ type }) => type === "event_reverted")).toEqual([]);
}

test("without an index it waits without log lines, and starts by itself once there is one", async () => {
  await issueBonds(chain, alice, ...bonds(3));
  const queries = new Set<string>();
  const countQueries = async () => {
    const [row] = await world.connection.sql<{ at: string }[]>`
      select query_start::text as at from pg_stat_activity
      where datname = current_database() and application_name = 'outbox-index'`;
    if (row) queries.add(row.at);
    return queries.size;
  };
  await expect.poll(countQueries).toBeGreaterThanOrEqual(4);
  expect(world.lines).toEqual([]);
  await world.stack.start("indexer");
  await chain.client.mine({ blocks: 1 });
  await world.processed();
  await expectEventsOfChain();
  expect(world.lines.map((line) => JSON.parse(line).msg)).toEqual(["the outbox starts at this block"]);
});

test("blocks with more events than one run stores are stored completely and in order", async () => {
  for (let n = 0; n < 3; n += 1) await issueBonds(chain, alice, ...bonds(550));
  await issueBonds(chain, alice, ...bonds(1));
  await world.processed();
  await expectEventsOfChain();
});

test("a killed indexer loses its newest rows and reads them again: no event is repeated, skipped or reverted", async () => {
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  await world.processed();
  const before = await world.events();
  await world.stack.kill9("indexer");
  const starting = world.stack.start("indexer");
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  await starting;
  await chain.client.mine({ blocks: 1 });
  await world.processed();
  await expectEventsOfChain();
  expect((await world.events()).slice(0, before.length)).toEqual(before);
});

test("two writers at once store each event and each delivery once", async () => {
  const other = world.start();
  for (let n = 0; n < 20; n += 1) await issueBonds(chain, alice, ...bonds(7));
  await world.processed();
  await expectEventsOfChain();
  await other.stop();
});

test("a writer with connections that break during its runs loses and repeats nothing", async () => {
  const { sql } = world.connection;
  let breaking = true;
  let broken = 0;
  const breaker = (async () => {
    while (breaking) {
      const ended = await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where datname = current_database() and application_name like 'outbox%' and state <> 'idle'`;
      broken += ended.length;
      await sleep(3);
    }
  })();
  // The machine's speed decides how many runs the breaker interrupts: create events until there are enough.
  for (let n = 0; n < 20 || (broken < 5 && n < 1000); n += 1) await issueBonds(chain, alice, ...bonds(40));
  breaking = false;
  await breaker;
  expect(broken).toBeGreaterThan(3);
  await world.processed();
  await expectEventsOfChain();
  await expect.poll(() => world.lines.at(-1)).toMatch(/works again|starts/);
});

test("a new build of the indexer replaces the views, and its rows are the same events", {
  timeout: 600_000,
}, async () => {
  const old = await servedSchema(world.rows.sql);
  const before = await world.events();
  const lines = world.lines.length;
  const changed = await startChangedIndexer(world.stack);
  const meanwhile = () => issueBonds(chain, alice, ...bonds(1));
  await waitForOtherSchema(world.rows.sql, old, { indexer: changed, meanwhile });
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(1));
  await world.processed();
  await expectEventsOfChain();
  expect((await world.events()).slice(0, before.length)).toEqual(before);
  expect(world.lines.slice(lines)).toEqual([]);
  await changed.stop();
});
