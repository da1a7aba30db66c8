/**
 * What this proves: the outbox's queries scan no large table completely, also with years of events in the tables, and with or
 * without table statistics.
 */
import { setDatabaseSchema } from "@ponder/client";
import { pino } from "pino";
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { copyTables, fillIndex, type Sizes, walletExpression, walletOf } from "../../bench/fill-index.ts";
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
const sizes: Sizes = { policies: 40_000, burns: 8_000, others: 8_000, wallets: 1_000 };
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
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
    select 8453, ${sql.unsafe(walletExpression("i", sizes.wallets))}, 'https://example.com/', array['policy_purchased'], 's', 0, -1, 0
    from generate_series(1, ${sizes.wallets * EACH}) i`;
  await sql`
    insert into service.outbox (chain_id, final_block, final_time, processed_block)
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
  const snapshots = connect(databaseUrl, { name: "outbox-index", max: 1 });
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
    // Two rows, which are read for each open policy that a price has reached.
    if (name === `${SCRATCH}.oracle_feed` || name === `${SCRATCH}.oracle_phase`) continue;
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

test("a round that makes three hundred of thousands of open policies due, after thousands of rounds in their windows", async () => {
  const [open, rounds, reached] = [3_000, 5_000, 300];
  const start = now - 80_000;
  const table = (name: string) => sql`${sql(SCRATCH)}.${sql(name)}`;
  const [product] = await sql<{ id: string; asset: string }[]>`
    select product_id as id, asset from ${table("policy")} where log_index = 100 limit 1`;
  if (!product) throw new Error("there are no policies");
  const { id, asset } = product;
  const hash = sql.unsafe("'0x' || md5(i::text) || md5(i::text)");
  // Above every trigger price.
  await sql`update ${table("oracle_round")} set answer = 5900000000000 where asset = ${asset}`;
  await sql`
    insert into ${table("policy")} (product_id, policy_id, buyer, coverage, premium, payout, price_snapshot, created_at,
      expires_at, asset, strike, trigger_price, observations, block_number, log_index, block_hash, block_timestamp, tx_hash)
    select ${id}, 5000000 + i, ${walletOf(1, sizes.wallets)}, 1000000000, 1, 800000000, 1, ${start}, ${now + 5000} + i, ${asset},
      60000000000000000000000, case when i <= ${reached} then 58500 else 40000 end * 1e18::numeric, 0, ${HEAD - 2000}, 200 + i,
      ${hash}, ${start}, ${hash}
    from generate_series(1, ${open}) i`;
  const addRounds = (count: number, answer: string, block: number, time: number) => sql`
    insert into ${table("oracle_round")} (asset, round_id, phase, answer, updated_at, block_number, log_index, block_hash,
      block_timestamp, tx_hash)
    select ${asset}, 2::numeric ^ 64 + 3000000 + ${block} * 10 + i, 1, ${answer}, ${time} + i, ${block} + i / 100, 4000 + i, ${hash},
      ${time} + i, ${hash}
    from generate_series(1, ${count}) i`;
  await addRounds(rounds, "5900000000000", HEAD - 1900, start);
  await addRounds(3, "5800000000000", HEAD - 5, now - 10);
  const due = () => sql`
    select from service.event where type = 'policy_due' and split_part(key, ':', 3)::bigint > 5000000`;
  expect(await due()).toHaveLength(0);
  // The first block with a new context reads all open policies, as after a start or with a new build of the index.
  await expectNoScans(async () => {
    await runOutbox([30, 31, 32]);
  });
  expect(await due()).toHaveLength(reached);
});
