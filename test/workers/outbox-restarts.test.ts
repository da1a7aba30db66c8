/**
 * What this proves: whatever fails in indexer and writers, each event of the chain is stored once, in chain order, with one
 * delivery for its subscription, also the events of policies that the price makes due; a writer reads the events of the blocks
 * after the last one that it has taken, and one that starts continues there; and while there is no index, the outbox waits
 * without log lines.
 */
import { setTimeout as sleep } from "node:timers/promises";
import type { Address } from "viem";
import { beforeAll, expect, test } from "vitest";
import type { Outbox } from "../../workers/outbox/start.ts";
import { startChangedIndexer, waitForOtherSchema } from "../src/support/changed-build.ts";
import { type EmitterChain, startEmitterChain } from "../src/support/emitter-chain.ts";
import { servedSchema } from "../src/support/rows.ts";
import { issueBonds, keysOf, keysOnChain } from "./support/bonds.ts";
import { type DuePolicies, openDuePolicies } from "./support/due-policies.ts";
import { type OutboxWorld, startOutboxWorld } from "./support/outbox.ts";

const alice: Address = "0x00000000000000000000000000000000000a11ce";
/** Few enough for the events before them to stay in blocks that are not final. */
const BLOCKS = 10;
const DWELL = 300n;

let chain: EmitterChain;
let world: OutboxWorld;
let outbox: Outbox;
let subscription: number;
let policies: DuePolicies;
let amount = 0n;

beforeAll(async () => {
  chain = await startEmitterChain();
  world = await startOutboxWorld(chain, { indexer: false });
  subscription = await world.subscribe(alice);
  policies = openDuePolicies(chain, alice);
  outbox = world.start();
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

/** The ids of the policies with an event that they are due, in the events' order. */
const duePolicies = async () =>
  (await world.events())
    .filter(({ type }) => type === "policy_due")
    .map(({ body }) => BigInt(String(body.data.policyId)));
/** Buys a policy and lets the price fall after the dwell. */
async function makeDue(): Promise<bigint> {
  const policyId = await policies.buy();
  await policies.fall(DWELL);
  return policyId;
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
  for (let n = 0; n < 2; n += 1) await issueBonds(chain, alice, ...bonds(550));
  await issueBonds(chain, alice, ...bonds(1));
  await world.processed();
  await expectEventsOfChain();
});

/** Stops the outbox, and waits until its sessions are over: each reports what it has read at its end. */
async function stopOutbox(): Promise<void> {
  await outbox.stop();
  const sessions = () => world.connection.sql`
    select from pg_stat_activity where datname = current_database() and application_name like 'outbox%'`;
  await expect.poll(sessions).toHaveLength(0);
}

/** The block that the outbox has taken, and how many stored events the ended sessions and the test have read. */
async function readState() {
  const { sql } = world.connection;
  // Both connections of the test report what they have read.
  await Promise.all([1, 2].map(() => sql.begin((tx) => tx`select pg_stat_force_next_flush()`)));
  const [row] = await sql<{ taken: number | null; final: number; read: number }[]>`
    select o.taken_block::int as taken, o.final_block::int as final,
      (select (seq_tup_read + idx_tup_fetch)::int from pg_stat_user_tables
        where schemaname = 'service' and relname = 'event') as read
    from service.outbox o`;
  if (!row) throw new Error("the outbox has no cursor");
  return row;
}

test("blocks without events cost no reads of the events before them, also after a new start", async () => {
  const firstBlock = Number(await chain.client.getBlockNumber());
  const stored = (await world.events()).length;
  await stopOutbox();
  const before = await readState();
  expect(before.taken).toBe(firstBlock);
  outbox = world.start();
  for (let n = 0; n < BLOCKS; n += 1) {
    await chain.client.mine({ blocks: 1 });
    await world.processed();
  }
  await stopOutbox();
  const after = await readState();
  outbox = world.start();
  expect(after.taken).toBe(firstBlock + BLOCKS);
  expect(after.final).toBeLessThan(firstBlock - 3);
  expect(after.read - before.read).toBeLessThan(stored / 2);
});

test("a killed indexer loses its newest rows and reads them again: no event is repeated, skipped or reverted, nor of policies in a fall", async () => {
  const due = await makeDue();
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  const falling: bigint[] = [];
  for (let n = 0; n < 10; n += 1) falling.push(await policies.buy());
  await policies.fall();
  await world.processed();
  const before = await world.events();
  const other = world.start();
  await world.stack.kill9("indexer");
  const starting = world.stack.start("indexer");
  await policies.block(() => [], DWELL);
  for (let n = 0; n < 5; n += 1) await issueBonds(chain, alice, ...bonds(2));
  await starting;
  await chain.client.mine({ blocks: 1 });
  await world.processed();
  await expectEventsOfChain();
  expect((await world.events()).slice(0, before.length)).toEqual(before);
  expect(await duePolicies()).toEqual([due, ...falling]);
  await other.stop();
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

test("an event in a block that replaces a taken one is stored, and the events of both are right", async () => {
  await issueBonds(chain, alice, ...bonds(1));
  await world.processed();
  await chain.client.request<{ Method: "anvil_reorg"; Parameters: [number, never[]]; ReturnType: null }>({
    method: "anvil_reorg",
    params: [2, []],
  });
  await issueBonds(chain, alice, ...bonds(1));
  await world.processed();
  const keys = await keysOnChain(chain);
  await expect.poll(async () => keysOf(await world.events())).toEqual(keys);
  const head = await chain.client.getBlockNumber();
  await expect.poll(async () => (await readState()).taken).toBe(Number(head));
});

test("a new build of the indexer replaces the views, and its rows are the same events, also those of due policies", {
  timeout: 600_000,
}, async () => {
  const earlier = await duePolicies();
  const due = await makeDue();
  const falling = await policies.buy();
  await world.processed();
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
  expect(await duePolicies()).toEqual([...earlier, due]);
  // A later fall is found.
  await policies.fall(DWELL);
  await world.processed();
  expect(await duePolicies()).toEqual([...earlier, due, falling]);
  expect(world.lines.slice(lines)).toEqual([]);
  await changed.stop();
});
