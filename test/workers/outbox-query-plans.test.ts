/**
 * What this proves: the outbox's queries scan no large table completely, also with years of events in the tables, and with or
 * without table statistics.
 */
import { setDatabaseSchema } from "@ponder/client";
import { pino } from "pino";
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { copyTables, fillIndex, type Sizes, walletOf } from "../../bench/fill-index.ts";
import { connect } from "../../lib/db/connect.ts";
import * as indexed from "../../ponder.schema.ts";
import { createOutboxContext } from "../../workers/outbox/context.ts";
import { processBlocks } from "../../workers/outbox/process-blocks.ts";
import { createBlockReader } from "../../workers/outbox/read-block.ts";
import { servedSchema } from "../src/support/rows.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { startOutboxWorld } from "./support/outbox.ts";

const SCRATCH = "large";
const sizes: Sizes = { policies: 100_000, activity: 10, burns: 20_000, others: 20_000, wallets: 2_000 };
/** Subscriptions of each wallet. */
const EACH = 10;
/** The block of the newest policy. The newest hundred blocks are not final. */
const HEAD = sizes.policies;
const UNFINAL = 100;
/** Rows that one run may scan sequentially, such as those of a small table. */
const FEW = 3_000;

let chain: TestChain;
let databaseUrl: string;
let sql: Sql;
let now: number;

beforeAll(async () => {
  chain = await startChain();
  const world = await startOutboxWorld(chain);
  databaseUrl = world.stack.databaseUrl;
  await world.rows.caughtUp(chain.client);
  const source = await servedSchema(world.rows.sql);
  await world.stack.stopService("indexer");
  now = Number((await chain.client.getBlock()).timestamp);

  const connection = connect(databaseUrl, { name: "planner", max: 1, statementTimeout: 240_000 });
  atEnd(connection.close);
  sql = connection.sql;
  await copyTables(sql, source ?? "", SCRATCH);
  await fillIndex(sql, SCRATCH, sizes, now);
  await sql`create table ${sql(SCRATCH)}._ponder_meta as select * from indexer._ponder_meta`;
  await sql`
    insert into service.event (chain_id, id, key, type, block_number, block_hash, tx_hash, log_index, parties, body)
    select 8453, 'evt_' || i, block_hash || ':' || tx_hash || ':100', 'policy_purchased', i, block_hash, tx_hash, 100,
      array[buyer], '{"data":{}}'
    from (
      select block_number::bigint as i, block_hash, tx_hash, buyer from ${sql(SCRATCH)}.policy
      where log_index = 100 and block_number <= ${HEAD - UNFINAL / 2}) p`;
  await sql`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, passed_block, passed_event)
    select 8453, '0x' || lpad(to_hex(i % ${sizes.wallets}), 40, '0'), 'https://example.com/', array['policy_purchased'], 's', 0, -1, 0
    from generate_series(1, ${sizes.wallets * EACH}) i`;
  await sql`
    insert into service.outbox (chain_id, final_block, final_time, passed_block)
    values (8453, ${HEAD - UNFINAL}, ${now - 3600}, ${HEAD - UNFINAL / 2})`;
  setDatabaseSchema(indexed, SCRATCH);
}, 900_000);

/** Moves the head to a new block without events. */
const moveHead = (blocks: number) => sql`
  update ${sql(SCRATCH)}.head
  set number = ${HEAD + blocks}, hash = '0x' || md5(${String(blocks)}), timestamp = ${now + blocks}`;

/** Rows of each table that ended sessions read by sequential scans. */
async function rowsScanned(): Promise<Map<string, number>> {
  await sql`select pg_stat_force_next_flush()`;
  const rows = await sql<{ name: string; rows: string }[]>`
    select schemaname || '.' || relname as name, seq_tup_read::text as rows from pg_stat_user_tables
    where schemaname in ('service', ${SCRATCH})`;
  return new Map(rows.map(({ name, rows }) => [name, Number(rows)]));
}

/** Runs the outbox for each of these blocks; resolves to the subscriptions with new deliveries. */
async function runOutbox(blocks: readonly number[]): Promise<string[]> {
  const writes = connect(databaseUrl, { name: "outbox", max: 1 });
  const snapshots = connect(databaseUrl, { name: "outbox-index", max: 1, snapshots: true });
  const announced: string[] = [];
  const context = createOutboxContext({
    ...{ sql: writes.sql, snapshots: snapshots.sql, viewsSchema: SCRATCH, chainId: 8453, confirmations: 1 },
    holdMs: 1000,
    readBlock: createBlockReader(chain.deployment, chain.url),
    onDeliveries: (ids) => announced.push(...ids),
    log: pino({ level: "silent" }),
  });
  for (const block of blocks) {
    await moveHead(block);
    while (await processBlocks(context));
  }
  await Promise.all([writes.close(), snapshots.close()]);
  return announced;
}

async function expectNoScans(work: () => Promise<void>): Promise<void> {
  const before = await rowsScanned();
  await work();
  const after = await rowsScanned();
  for (const [name, rows] of after) {
    expect(rows - (before.get(name) ?? 0), name).toBeLessThanOrEqual(FEW);
  }
}

test("new events and their subscriptions, without table statistics", async () => {
  await expectNoScans(async () => {
    const announced = await runOutbox([1]);
    const wallets = new Set(Array.from({ length: UNFINAL / 2 }, (_, n) => walletOf(HEAD - n, sizes.wallets)));
    expect(new Set(announced).size).toBe(wallets.size * EACH);
  });
});

test("blocks without events, with table statistics", async () => {
  await sql.unsafe("analyze service.event, service.webhook, service.delivery");
  // No policy expires in these blocks, because the chain does not have them.
  await sql`update service.outbox set final_time = ${now + 1000}`;
  await expectNoScans(async () => {
    expect(await runOutbox(Array.from({ length: 20 }, (_, n) => n + 2))).toEqual([]);
  });
});
