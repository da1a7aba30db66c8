/** Which build's rows readers see, and from when on: on tables as Ponder keeps them. */
import { setTimeout as sleep } from "node:timers/promises";
import postgres, { type Sql } from "postgres";
import { beforeEach, expect, test } from "vitest";
import { showIfCaughtUp } from "../../../scripts/indexer/catch-up.ts";
import { beginCatchUp } from "../../../scripts/indexer/last-block.ts";
import { servedSchema } from "../../../scripts/indexer/views.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";

const CHAIN = 8453;
const VIEWS = "indexer";

let url: string;
let sql: Sql;
beforeEach(async () => {
  url = await freshDatabase();
  sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  await sql`create schema ${sql(VIEWS)}`;
});

const build = (schema: string) => ({ schema, viewsSchema: VIEWS });
/** One look of the build's launcher; the chain's newest block is `newest`. */
const look = (schema: string, newest = 1000n) => showIfCaughtUp(sql, build(schema), async () => newest);
const start = async (schema: string) => {
  const held = await beginCatchUp(sql, url, { ...build(schema), maxAge: 60 });
  atEnd(held.release);
  return held;
};

/** The first start of a build: a row and empty tables. */
async function create(schema: string, more: readonly string[] = []): Promise<void> {
  const names = JSON.stringify(["head", ...more]);
  await sql`create schema ${sql(schema)}`;
  await sql`create table ${sql(schema)}.head (chain_id integer primary key, number numeric)`;
  for (const table of more) await sql`create table ${sql(schema)}.${sql(table)} (id integer primary key)`;
  await sql`create table ${sql(schema)}._ponder_meta (key text primary key, value jsonb)`;
  await sql`create table ${sql(schema)}._ponder_checkpoint (chain_id integer, latest_checkpoint varchar(75))`;
  await sql`insert into ${sql(schema)}._ponder_checkpoint values (${CHAIN}, ${checkpointOf(0)})`;
  await sql`
    insert into ${sql(schema)}._ponder_meta values
      ('app', jsonb_build_object('is_ready', 0, 'table_names', ${names}::text::jsonb, 'view_names', '[]'::jsonb))`;
  await sql`
    insert into service.indexer_deployment (schema_name, views_schema, chain_id, heartbeat_at, first_started_at)
    values (${schema}, ${VIEWS}, ${CHAIN}, now(), clock_timestamp())`;
  await start(schema);
}

const checkpointOf = (block: number) =>
  `${"1".repeat(10)}${String(CHAIN).padStart(16, "0")}${String(block).padStart(16, "0")}`;

/** Ponder has finished its backfill and stored rows of this block; its head's row may be behind. */
async function index(schema: string, block: number, head = block): Promise<void> {
  await sql`update ${sql(schema)}._ponder_meta set value = jsonb_set(value, '{is_ready}', '1')`;
  await sql`update ${sql(schema)}._ponder_checkpoint set latest_checkpoint = ${checkpointOf(block)}`;
  await sql`
    insert into ${sql(schema)}.head values (${CHAIN}, ${head}) on conflict (chain_id) do update set number = excluded.number`;
}

const seen = async () => (await sql`select number::int from ${sql(VIEWS)}.head`)[0]?.number;
/** What readers see in the snapshot that a launcher holds. */
const seenInSnapshot = async () => {
  const [row] = await sql`select snapshot from service.indexer_deployment where snapshot is not null`;
  if (row === undefined) return undefined;
  return sql.begin("isolation level repeatable read", async (tx) => {
    await tx.unsafe(`set transaction snapshot '${row.snapshot}'`);
    return (await tx`select number::int from ${tx(VIEWS)}.head`)[0]?.number;
  });
};

test("the first index is shown once its head is the block of its rows", async () => {
  await create("idx_a");
  expect(await look("idx_a")).toBe(false);
  await index("idx_a", 12, 10);
  expect(await look("idx_a")).toBe(false);
  expect([await servedSchema(sql, VIEWS), await seen()]).toEqual(["idx_a", undefined]);
  await index("idx_a", 13);
  expect(await look("idx_a")).toBe(true);
  expect(await seen()).toBe(13);
});

test("from a start on readers find the last block in a snapshot, until the rows are those of a block that is not lower", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await start("idx_a");
  expect(await look("idx_a")).toBe(false); // the former process's word that it is ready does not count
  await index("idx_a", 70);
  expect(await look("idx_a")).toBe(false);
  await index("idx_a", 101, 70);
  expect(await look("idx_a")).toBe(false);
  expect([await seen(), await seenInSnapshot()]).toEqual([undefined, 100]);
  await index("idx_a", 101);
  expect(await look("idx_a")).toBe(true);
  expect([await seen(), await seenInSnapshot()]).toEqual([101, undefined]);
});

test("if a reorganisation made the chain shorter, the chain's newest block is enough", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await start("idx_a");
  await index("idx_a", 95);
  expect(await look("idx_a", 96n)).toBe(false);
  expect(await look("idx_a", 95n)).toBe(true);
  expect(await seen()).toBe(95);
});

test("a node that answers later than a transaction may rest keeps no transaction open, and its answer counts", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await start("idx_a");
  await index("idx_a", 95);
  // The launcher's connection has such a limit too: five seconds.
  await sql`set idle_in_transaction_session_timeout = 2000`;
  const late = async () => {
    await sleep(4000);
    return 95n;
  };
  expect(await showIfCaughtUp(sql, build("idx_a"), late)).toBe(true);
  expect(await seen()).toBe(95);
});

test("an answer of the node from before readers saw a newer block does not count", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await create("idx_b");
  await index("idx_b", 95);
  const chainGrows = async () => {
    await index("idx_a", 101);
    return 95n;
  };
  expect(await showIfCaughtUp(sql, build("idx_b"), chainGrows)).toBe(false);
  expect([await servedSchema(sql, VIEWS), await seen()]).toEqual(["idx_a", 101]);
});

test("an indexer that ended while it caught up has no last block, unless its rows are still those of one", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await start("idx_a");
  await start("idx_a"); // Ponder has not changed a row
  expect(await seenInSnapshot()).toBe(100);
  await index("idx_a", 70);
  await start("idx_a");
  expect([await seen(), await seenInSnapshot()]).toEqual([undefined, undefined]);
  await index("idx_a", 102);
  expect(await look("idx_a")).toBe(true);
});

test("a newer build takes the views at the block that readers have seen; its tables replace those of the old one", async () => {
  await create("idx_a", ["policy", "old"]);
  await index("idx_a", 100);
  await look("idx_a");
  await create("idx_b", ["policy", "added"]);
  await index("idx_b", 99);
  expect(await look("idx_b")).toBe(false);
  expect([await servedSchema(sql, VIEWS), await seen()]).toEqual(["idx_a", 100]);
  await index("idx_b", 100);
  expect(await look("idx_b")).toBe(true);
  expect([await servedSchema(sql, VIEWS), await seen()]).toEqual(["idx_b", 100]);
  const views = await sql<{ name: string }[]>`
    select table_name as name from information_schema.views where table_schema = ${VIEWS} order by 1`;
  expect(views.map(({ name }) => name)).toEqual([
    "_ponder_checkpoint",
    "_ponder_meta",
    "added",
    "head",
    "policy",
  ]);
});

test("an older build that starts again leaves the views to the newer one, until that has been down for ten seconds", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await create("idx_b");
  await index("idx_b", 101);
  expect(await look("idx_b")).toBe(true);
  await start("idx_a");
  await index("idx_a", 105);
  expect(await look("idx_a")).toBe(false);
  expect([await servedSchema(sql, VIEWS), await seen(), await seenInSnapshot()]).toEqual([
    "idx_b",
    101,
    undefined,
  ]);
  await sql`update service.indexer_deployment set heartbeat_at = now() - interval '11 s' where schema_name = 'idx_b'`;
  expect(await look("idx_a")).toBe(true);
  expect([await servedSchema(sql, VIEWS), await seen()]).toEqual(["idx_a", 105]);
});

test("the snapshot ends with its maximum age, and holds back no vacuum afterwards", async () => {
  await create("idx_a");
  await index("idx_a", 100);
  await look("idx_a");
  await beginCatchUp(sql, url, { ...build("idx_a"), maxAge: 1 });
  await expect
    .poll(
      () =>
        sql`select pid from pg_stat_activity where application_name = 'idx_a_last_block' and datname = current_database()`,
    )
    .toEqual([]);
  await expect(seenInSnapshot()).rejects.toMatchObject({ code: expect.stringMatching(/^(42704|22023)$/) });
});
