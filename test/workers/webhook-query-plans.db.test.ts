/**
 * What this proves: statements that a writer prepared while the tables were small do not scan them after they have grown, also
 * without new table statistics.
 */
import { randomUUID } from "node:crypto";
import { afterEach, beforeAll, beforeEach, expect, test } from "vitest";
import type { Connection } from "../../lib/db/connect.ts";
import { connect } from "../../lib/db/connect.ts";
import { type Batch, claimDeliveries, releaseLeases } from "../../workers/webhooks/claim-deliveries.ts";
import { openDatabasePools } from "../../workers/webhooks/database-pools.ts";
import { settleDeliveries } from "../../workers/webhooks/settle-deliveries.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const WEBHOOKS = 200;
/** Events for every subscription that make the tables grow. */
const EVENTS = 250;
const writer = { chainId: 1, token: randomUUID() };
const ids = Array.from({ length: WEBHOOKS }, (_, index) => String(index + 1));

let databaseUrl: string;
let admin: Connection["sql"];
let pools: ReturnType<typeof openDatabasePools>;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  const connection = connect(databaseUrl, { name: "test", max: 1, statementTimeout: 120_000 });
  admin = connection.sql;
  atEnd(connection.close);
  for (const table of ["webhook", "event", "delivery"]) {
    await admin.unsafe(`alter table service.${table} set (autovacuum_enabled = off)`);
  }
  await admin`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event)
    select 1, '0xaa', 'http://127.0.0.1/' || n, array['*'], 'sealed', 0, 0, 0 from generate_series(1, ${WEBHOOKS}::int) n`;
});

beforeEach(() => {
  pools = openDatabasePools(databaseUrl);
});
afterEach(() => pools.close());

let events = 0;
/** Stores events with deliveries for the first `webhooks` subscriptions. */
async function addEvents(count: number, webhooks: number): Promise<void> {
  await admin`
    with added as (
      insert into service.event (chain_id, id, key, type, block_number, parties, body)
      select 1, 'evt_' || n, n, 'token_burned', 1, '{}', repeat('x', 500)
      from generate_series(${events + 1}::int, ${events + count}::int) n returning seq)
    insert into service.delivery (webhook_id, event_seq)
    select w, seq from added, generate_series(1, ${webhooks}::int) w order by seq`;
  events += count;
}

const settlements = (batches: readonly Batch[]) =>
  batches.flatMap(({ webhookId, deliveries }) =>
    deliveries.map(({ id, takenAt }) => ({
      ...{ webhookId, deliveryId: id, takenAt, kind: "delivered" as const },
      attempt: {
        ...{ at: new Date().toISOString(), durationMs: 1, outcome: "delivered" as const },
        ...{ status: 204, error: null, response: "" },
      },
    })),
  );

/** Claims and settles one batch of each subscription; resolves to the number of deliveries. */
async function deliverOnce(webhookIds: readonly string[]): Promise<number> {
  const batches = await claimDeliveries(pools.sql, writer, webhookIds);
  const settled = settlements([...batches.values()]);
  await settleDeliveries(pools.sql, settled);
  await releaseLeases(pools.sql, writer, webhookIds);
  return settled.length;
}

/** Rows of a table that statements have read. */
async function rowsRead(table: string): Promise<number> {
  const [row] = await admin<{ rows: number }[]>`
    select (seq_tup_read + coalesce(idx_tup_fetch, 0))::int as rows from pg_stat_user_tables
    where schemaname = 'service' and relname = ${table}`;
  return row?.rows ?? Number.NaN;
}

/** Rows of the deliveries that sequential scans have read. */
async function rowsScanned(): Promise<number> {
  const [row] = await admin<{ rows: number }[]>`
    select seq_tup_read::int as rows from pg_stat_user_tables where relname = 'delivery'`;
  return row?.rows ?? 0;
}

/** Has each of the pools' sessions report what it has read so far. */
async function reportReads(): Promise<void> {
  await Promise.all([1, 2, 3, 4].map(() => pools.sql.begin((tx) => tx`select pg_stat_force_next_flush()`)));
  await admin`select pg_stat_force_next_flush()`;
}

/** Ends the pools' sessions: each reports at its end what it has read. */
async function endSessions(): Promise<void> {
  await pools.close();
  const sessions = () => admin`
    select from pg_stat_activity where datname = current_database() and application_name like 'webhooks%'`;
  await expect.poll(sessions).toHaveLength(0);
}

test("claiming and settling use indexes after the tables have grown", async () => {
  // Enough rounds for each connection of the pools to prepare its statements.
  for (let round = 0; round < 60; round += 1) {
    await addEvents(1, 4);
    await Promise.all(["1", "2", "3", "4"].map((id) => deliverOnce([id])));
  }
  await addEvents(EVENTS, WEBHOOKS);
  await reportReads();
  const before = await rowsScanned();
  let delivered = 0;
  for (let from = 0; from < WEBHOOKS; from += 15) delivered += await deliverOnce(ids.slice(from, from + 15));
  expect(delivered).toBe(20 * WEBHOOKS);
  await endSessions();
  expect(await rowsRead("delivery")).toBeGreaterThan(delivered);
  expect((await rowsScanned()) - before).toBeLessThan(EVENTS * WEBHOOKS);
});

test("a subscription that does not name burns looks at none of those that wait for their deliveries", async () => {
  await admin`
    insert into service.fan_out (event_seq, chain_id)
    select seq, 1 from service.event order by seq desc limit 200`;
  await addEvents(1, 1);
  await admin`select pg_stat_force_next_flush()`;
  const before = { deliveries: await rowsRead("delivery"), waiting: await rowsRead("fan_out") };
  expect(await deliverOnce(["1"])).toBeGreaterThan(0);
  await endSessions();
  expect(await rowsRead("delivery")).toBeGreaterThan(before.deliveries);
  expect(await rowsRead("fan_out")).toBe(before.waiting);
});
