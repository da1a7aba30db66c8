/**
 * Reads of the index with a standby. Two databases play primary and standby, so that a test sets what each of them has. What this
 * proves: the standby answers while it is close, the primary wherever it cannot, and no answer is older than one before.
 */
import { sql as statement } from "drizzle-orm";
import postgres from "postgres";
import { beforeAll, expect, test } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import { createIndexReader, type IndexReader } from "../../api/indexed/reader.ts";
import { openStandby, type Standby } from "../../api/indexed/standby.ts";
import { connect } from "../../lib/db/connect.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import { createLogger } from "../../lib/log.ts";
import * as indexed from "../../ponder.schema.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
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

type Server = {
  readonly url: string;
  readonly sql: postgres.Sql;
  readonly set: (head: AsOf) => Promise<void>;
};

async function createServer(): Promise<Server> {
  const url = await freshDatabase({ empty: true });
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  await sql`create schema indexer`;
  await sql`
    create table indexer.head (chain_id integer, number numeric(78), hash text, timestamp numeric(78))`;
  async function set({ number, hash, timestamp }: AsOf): Promise<void> {
    await sql.begin(async (tx) => {
      await tx`delete from indexer.head`;
      await tx`
        insert into indexer.head
        values (${deployment.chainId}, ${String(number)}, ${hash}, ${String(timestamp)})`;
    });
  }
  return { url, sql, set };
}

let [primary, other]: Server[] = [];
let proxy: TcpProxy;
let standby: Standby;
let index: IndexReader;

beforeAll(async () => {
  readFrom(indexed, VIEWS_SCHEMA);
  [primary, other] = [await createServer(), await createServer()];
  proxy = await startTcpProxy(other.url);
  const connection = connect(primary.url, { name: "test-index", max: 2, snapshots: true });
  atEnd(connection.close);
  const pool = { max: 2, statementTimeout: 4000 };
  const log = createLogger("test", "silent");
  standby = openStandby({ url: proxy.url, pool, indexConnection: connection, deployment, log });
  atEnd(standby.close);
  const parts = { connection, indexConnection: connection, standby, deployment, viewsSchema: VIEWS_SCHEMA };
  index = createIndexReader(parts);
});

const servers = () => {
  if (!primary || !other) throw new Error("there are no servers");
  return { primary, other };
};

/** A block above all that tests have used, which both servers get, and from which the standby is read. */
let height = 0;
async function nextLevel(): Promise<number> {
  height += 10;
  // In this order the standby is never behind.
  await servers().other.set(block(height));
  await servers().primary.set(block(height));
  await expect.poll(() => standby.isUsed()).toBe(true);
  return height;
}

test("a standby that is two blocks behind answers", async () => {
  await waitFor({
    what: "an answer of the standby",
    // On a busy machine a comparison may take too long; then the primary answers.
    probe: async () => {
      const level = await nextLevel();
      await servers().primary.set(block(level + 2));
      return (await index.head()).number === BigInt(level) || undefined;
    },
  });
});

test("a standby that is further behind is not read until it has caught up", async () => {
  const level = await nextLevel();
  await servers().primary.set(block(level + 3));
  await expect.poll(() => standby.isUsed()).toBe(false);
  expect(await index.head()).toEqual(block(level + 3));
  await servers().other.set(block(level + 3));
  await expect.poll(() => standby.isUsed()).toBe(true);
});

test("an answer that is older than one before comes from the primary", async () => {
  const level = await nextLevel();
  await servers().primary.set(block(level + 1));
  standby.learn(block(level + 1), performance.now());
  expect(await index.head()).toEqual(block(level + 1));
});

test("of two blocks with one number, that of the primary counts", async () => {
  const level = await nextLevel();
  await servers().primary.set(block(level, 1));
  standby.learn(block(level, 1), performance.now());
  expect(await index.head()).toEqual(block(level, 1));
});

test("after a reorganisation to a lower block the standby answers again", async () => {
  const level = await nextLevel();
  expect((await index.head()).number).toBe(BigInt(level));
  await servers().primary.set(block(level - 1, 1));
  await servers().other.set(block(level - 1, 1));
  expect(await index.head()).toEqual(block(level - 1, 1));
  await waitFor({
    what: "an answer of the standby",
    probe: async () => {
      await servers().other.set(block(level, 1));
      return (await index.head()).number === BigInt(level) || undefined;
    },
  });
});

test("what fails on the standby is repeated on the primary", async () => {
  const level = await nextLevel();
  await servers().primary.sql`create table only_here as select 1 as n`;
  const { asOf, value } = await index.read((db) => db.execute(statement`select n from only_here`));
  expect([asOf, [...value]]).toEqual([block(level), [{ n: 1 }]]);
});

test("a read that waits for a standby whose host vanished is answered by the primary", async () => {
  const level = await nextLevel();
  await index.head();
  proxy.vanish();
  expect(await index.head()).toEqual(block(level));
  await expect.poll(() => standby.isUsed()).toBe(false);
  // New connections reach it.
  await expect.poll(() => standby.isUsed()).toBe(true);
});
