/**
 * What this proves: whatever happens to the indexer and to the writers, each event of the chain is stored once, in its order,
 * with one delivery for its subscription; and while there is no index, the outbox waits quietly.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChangedIndexer } from "../src/support/changed-build.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitters.ts";
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

/** Everything that is on the chain is told once, and nothing else is; each was put on its way once. */
async function expectTruth(): Promise<void> {
  const wanted = await keysOnChain(chain);
  await waitFor({
    what: "every event to be stored",
    probe: async () => (keysOf(await world.events()).length >= wanted.length ? true : undefined),
    timeoutMs: 60_000,
  });
  const events = await world.events();
  expect(keysOf(events)).toEqual(wanted);
  expect(new Set(events.map(({ id }) => id)).size).toBe(events.length);
  const deliveries = await world.deliveries();
  expect(deliveries.filter(({ webhookId }) => webhookId === subscription).map(({ seq }) => seq)).toEqual(
    events.map(({ seq }) => seq),
  );
  expect(events.filter(({ type }) => type === "event_reverted")).toEqual([]);
}

test("without an index it waits and says nothing, and begins by itself once there is one", async () => {
  await issueBonds(chain, alice, ...bonds(3));
  const looks = new Set<string>();
  await waitFor({
    what: "the outbox to have looked again and again",
    probe: async () => {
      const [row] = await world.connection.sql<{ at: string }[]>`
        select query_start::text as at from pg_stat_activity
        where datname = current_database() and application_name = 'outbox-index'`;
      if (row) looks.add(row.at);
      return looks.size >= 4 || undefined;
    },
    timeoutMs: 60_000,
  });
  expect(world.lines).toEqual([]);
  await world.stack.start("indexer");
  await chain.client.mine({ blocks: 1 });
  await world.passed();
  await expectTruth();
  expect(world.lines.map((line) => JSON.parse(line).msg)).toEqual(["the outbox begins"]);
});

test("more events in a block than one pass takes are all told, in their order", async () => {
  for (let n = 0; n < 3; n += 1) await issueBonds(chain, alice, ...bonds(230));
  await issueBonds(chain, alice, ...bonds(1));
  await world.passed();
  await expectTruth();
});

test("an indexer that is killed takes its newest rows with it and reads them again: nothing is repeated, skipped or taken back", async () => {
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  await world.passed();
  const before = await world.events();
  await world.stack.kill9("indexer");
  const starting = world.stack.start("indexer");
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  await starting;
  await chain.client.mine({ blocks: 1 });
  await world.passed();
  await expectTruth();
  expect((await world.events()).slice(0, before.length)).toEqual(before);
});

test("two writers at once write each event and each delivery once", async () => {
  const other = world.start();
  for (let n = 0; n < 20; n += 1) await issueBonds(chain, alice, ...bonds(7));
  await world.passed();
  await expectTruth();
  await other.stop();
});

test("a writer whose connections break at any moment of a pass loses nothing and repeats nothing", async () => {
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
  // How often the breaker meets a pass at work depends on the machine: events come until it has met enough of them.
  for (let n = 0; n < 60 || (broken < 5 && n < 1000); n += 1) await issueBonds(chain, alice, ...bonds(40));
  breaking = false;
  await breaker;
  expect(broken).toBeGreaterThan(3);
  await world.passed();
  await expectTruth();
  await waitFor({
    what: "the writer to say that it works again",
    probe: async () => (/works again|begins/.test(world.lines.at(-1) ?? "") ? true : undefined),
    timeoutMs: 60_000,
  });
});

test("a new build of the indexer takes the views over, and its rows are the same events", async () => {
  const schema = () => world.rows.sql<{ name: string }[]>`
    select distinct table_schema as name from information_schema.view_table_usage
    where view_schema = 'indexer' and table_schema <> 'indexer'`;
  const [old] = await schema();
  const before = await world.events();
  const lines = world.lines.length;
  const changed = await startChangedIndexer(world.stack);
  await waitFor({
    what: "the views to show the new schema",
    probe: async () => {
      await issueBonds(chain, alice, ...bonds(1));
      const [now] = await schema();
      return now && now.name !== old?.name ? true : undefined;
    },
    timeoutMs: 120_000,
    intervalMs: 200,
  });
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(1));
  await world.passed();
  await expectTruth();
  expect((await world.events()).slice(0, before.length)).toEqual(before);
  expect(world.lines.slice(lines)).toEqual([]);
  await changed.stop();
});
