/**
 * Reads of the index with a standby of Postgres. The tests pause its replay, so that they know which blocks each server has. What this proves:
 * the standby answers while it is close, the primary wherever it cannot, and no answer is older than one before.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { sql as statement } from "drizzle-orm";
import postgres from "postgres";
import { beforeAll, expect, test, vi } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import { createIndexReader, type IndexReader } from "../../api/indexed/reader.ts";
import { openStandby, type Standby } from "../../api/indexed/standby.ts";
import { type Connection, connect } from "../../lib/db/connect.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import { createLogger } from "../../lib/log.ts";
import * as indexed from "../../ponder.schema.ts";
import { signalPid } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { type OwnPostgres, startOwnPostgres } from "../support/own-postgres.ts";
import { createDatabase } from "../support/postgres-databases.ts";
import { startStandby, type TestStandby } from "../support/standby.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

const VIEWS_SCHEMA = "indexer";
const deployment = { chainId: 8453 };

/** A block of one of two forks. */
const block = (number: number, fork = 0): AsOf => ({
  source: "index",
  number: BigInt(number),
  hash: `0x${fork}${String(number).padStart(63, "0")}`,
  timestamp: BigInt(number),
});

let own: OwnPostgres;
let primaryUrl: string;
/** A session of the primary. */
let primary: postgres.Sql;
let server: TestStandby;
let proxy: TcpProxy;
let connection: Connection;
let standby: Standby;
let index: IndexReader;

function session(url: string): postgres.Sql {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end({ timeout: 1 }));
  return sql;
}

/** Creates the head's table, with a block. */
async function createHead(sql: postgres.Sql): Promise<void> {
  await sql`create schema indexer`;
  await sql`create table indexer.head (chain_id integer, number numeric(78), hash text, timestamp numeric(78))`;
  const { number, hash, timestamp } = block(0);
  await sql`
    insert into indexer.head values (${deployment.chainId}, ${String(number)}, ${hash}, ${String(timestamp)})`;
}

/** The api's reads of the index with the standby of this URL. */
function openReads(url: string) {
  const log = createLogger("test", "silent");
  const warned = vi.spyOn(log, "warn");
  const pool = { max: 2, statementTimeout: 4000 };
  const opened = openStandby({ url, primaryUrl, pool, deployment, log });
  atEnd(opened.close);
  const parts = { connection, indexConnection: connection, deployment, viewsSchema: VIEWS_SCHEMA };
  return { standby: opened, index: createIndexReader({ ...parts, standby: opened }), warned };
}

beforeAll(async () => {
  readFrom(indexed, VIEWS_SCHEMA);
  own = await startOwnPostgres("reads");
  primaryUrl = own.databaseUrl;
  primary = session(primaryUrl);
  await createHead(primary);
  server = await startStandby(primaryUrl);
  proxy = await startTcpProxy(server.databaseUrl);
  connection = connect(primaryUrl, { name: "test-index", max: 2 });
  atEnd(connection.close);
  ({ standby, index } = openReads(proxy.url));
});

/** Sets the primary's head. */
const set = ({ number, hash, timestamp }: AsOf) =>
  primary`
    update indexer.head set number = ${String(number)}, hash = ${hash}, timestamp = ${String(timestamp)}`;

const heightOn = async (sql: postgres.Sql): Promise<number> => {
  const [row] = await sql<{ height: number }[]>`select number::int as height from indexer.head`;
  return row?.height ?? -1;
};

/** Waits until the standby has the primary's head, and reads ask it. */
async function catchUp(): Promise<void> {
  await server.resume();
  const height = await heightOn(primary);
  await expect.poll(() => heightOn(server.sql)).toBe(height);
  await expect.poll(() => standby.isUsed()).toBe(true);
}

/** Sets both heads to a block above all before, and pauses the standby there. @returns its number */
let height = 0;
async function pauseAtNextBlock(): Promise<number> {
  await catchUp();
  height = Math.max(height, await heightOn(primary)) + 1;
  await set(block(height));
  await catchUp();
  await server.pause();
  return height;
}

/** A read that fails on the paused standby, because it does not have the table yet. */
async function readOnPrimary(): Promise<AsOf> {
  const table = `only_on_primary_${height}`;
  await primary`create table ${primary(table)} as select 1 as n`;
  const query = statement`select n from ${statement.identifier(table)}`;
  const { asOf, value } = await index.read((db) => db.execute(query));
  expect([...value]).toEqual([{ n: 1 }]);
  return asOf;
}

/** Pauses the standby two blocks behind the primary, and waits for its answer. @returns the primary's block */
const readFromPaused = () =>
  waitFor({
    what: "an answer of the standby",
    // On a busy machine a comparison may take too long; then the primary answers.
    probe: async () => {
      const paused = await pauseAtNextBlock();
      await set(block(paused + 2));
      return (await index.head()).number === BigInt(paused) ? block(paused + 2) : undefined;
    },
  });

test("a standby that is two blocks behind answers", async () => {
  await readFromPaused();
});

test("a standby that is further behind is not read until it has caught up", async () => {
  const paused = await pauseAtNextBlock();
  await set(block(paused + 3));
  await expect.poll(() => standby.isUsed()).toBe(false);
  expect(await index.head()).toEqual(block(paused + 3));
  await catchUp();
});

test("an answer that is older than one before comes from the primary", async () => {
  const paused = await pauseAtNextBlock();
  await set(block(paused + 1));
  expect(await readOnPrimary()).toEqual(block(paused + 1));
  expect(await index.head()).toEqual(block(paused + 1));
});

test("of two blocks with one number, that of the primary counts", async () => {
  const paused = await pauseAtNextBlock();
  await set(block(paused, 1));
  expect(await readOnPrimary()).toEqual(block(paused, 1));
  expect(await index.head()).toEqual(block(paused, 1));
});

test("after a reorganisation to a lower block the standby answers only once it has that block", async () => {
  const paused = await pauseAtNextBlock();
  expect(await index.head()).toEqual(block(paused));
  await set(block(paused - 1, 1));
  expect(await readOnPrimary()).toEqual(block(paused - 1, 1));
  expect(standby.isUsed()).toBe(false);
  expect(await index.head()).toEqual(block(paused - 1, 1));
  await catchUp();
  expect(await index.head()).toEqual(block(paused - 1, 1));
});

test("the host of the standby vanishes: the primary answers the read that waits for it", async () => {
  const newest = await readFromPaused();
  proxy.vanish();
  // A read that a busy machine delays may reach its time limit first.
  await expect.poll(() => index.head()).toEqual(newest);
  await expect.poll(() => standby.isUsed()).toBe(false);
  // New connections reach it.
  await catchUp();
});

test("the standby's host vanishes while the primary takes more than a second to tell its head: the primary answers", async () => {
  const newest = await readFromPaused();
  const pids = await primary<{ pid: number }[]>`
    select pid from pg_stat_activity where application_name = 'api-standby-watch'`;
  expect(pids).not.toEqual([]);
  for (const { pid } of pids) signalPid(pid, "SIGSTOP");
  try {
    proxy.vanish();
    const read = index.head();
    read.catch(() => {}); // awaited below
    // No less than the standby has for its answer.
    await sleep(1100);
    for (const { pid } of pids) signalPid(pid, "SIGCONT");
    // As above.
    await read.catch(() => {});
    await expect.poll(() => index.head()).toEqual(newest);
  } finally {
    for (const { pid } of pids) signalPid(pid, "SIGCONT");
  }
  await expect.poll(() => standby.isUsed()).toBe(false);
  await catchUp();
});

test("slow reads on the primary do not hold up the comparison", async () => {
  const paused = await pauseAtNextBlock();
  await primary`select pg_advisory_lock(1)`;
  const slow = [1, 2].map(
    () => connection.sql`select pg_advisory_lock_shared(1), pg_advisory_unlock_shared(1)`,
  );
  const read = Promise.all(slow);
  await expect
    .poll(() => primary`select from pg_locks where locktype = 'advisory' and not granted`)
    .toHaveLength(slow.length);
  await set(block(paused + 3));
  await expect.poll(() => standby.isUsed()).toBe(false);
  await primary`select pg_advisory_unlock(1)`;
  await read;
  await catchUp();
});

test("a URL that does not lead to a standby of the database changes no answer", async () => {
  await catchUp();
  const foreign = await createDatabase(primaryUrl, "foreign");
  await createHead(session(foreign));
  await set(block(0));
  const onStandby = new URL(server.databaseUrl);
  onStandby.pathname = "/foreign";
  await expect.poll(() => session(onStandby.href)`select from indexer.head`).toHaveLength(1);
  const urls: readonly [url: string, reason: string][] = [
    [onStandby.href, "no copy of the primary's database"],
    [foreign, "no copy of the primary's database"],
    [primaryUrl, "no standby"],
    [`postgres://127.0.0.1:${await freePort()}/reads`, "ECONNREFUSED"],
  ];
  for (const [url, reason] of urls) {
    const reads = openReads(url);
    await expect
      .poll(() => reads.warned.mock.calls)
      .toContainEqual([{ reason: expect.stringContaining(reason) }, expect.any(String)]);
    expect(reads.standby.isUsed()).toBe(false);
    expect(await reads.index.head()).toEqual(block(0));
  }
});

test("after the primary's death a standby that was restarted is read again, if it has every answered block", async () => {
  await catchUp();
  const newest = await index.head();
  await own.kill();
  await server.kill();
  await expect.poll(() => index.head().catch(() => standby.isUsed())).toBe(false);
  await server.start();
  await expect.poll(() => standby.isUsed()).toBe(true);
  expect(await index.head()).toEqual(newest);
});
