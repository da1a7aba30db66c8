/**
 * What this proves: statements that a writer has prepared while the tables were small do not read them from end to end once
 * they have grown, though Postgres has looked at none of them since.
 */
import { randomUUID } from "node:crypto";
import { beforeAll, expect, test } from "vitest";
import type { Connection } from "../../lib/db/connect.ts";
import { connect } from "../../lib/db/connect.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { claim, release, type Turn } from "../../workers/webhooks/claim.ts";
import { openPools } from "../../workers/webhooks/pools.ts";
import { settle } from "../../workers/webhooks/settle.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const WEBHOOKS = 200;
/** Of everybody, once the tables grow. */
const EVENTS = 500;
const writer = { chainId: 1, token: randomUUID() };
const ids = Array.from({ length: WEBHOOKS }, (_, index) => String(index + 1));

let admin: Connection["sql"];
let pools: ReturnType<typeof openPools>;
beforeAll(async () => {
  const databaseUrl = await freshDatabase();
  const connection = connect(databaseUrl, { name: "test", max: 1 });
  admin = connection.sql;
  pools = openPools(databaseUrl);
  atEnd(async () => {
    await Promise.all([connection.close(), pools.close()]);
  });
  for (const table of ["webhook", "event", "delivery"]) {
    await admin.unsafe(`alter table service.${table} set (autovacuum_enabled = off)`);
  }
  await admin`
    insert into service.webhook (chain_id, wallet, url, events, secret, from_block, passed_block, passed_event)
    select 1, '0xaa', 'http://127.0.0.1/' || n, array['*'], 'sealed', 0, 0, 0 from generate_series(1, ${WEBHOOKS}::int) n`;
});

let events = 0;
/** So many events, each for the first `webhooks` subscriptions. */
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

const settlements = (turns: readonly Turn[]) =>
  turns.flatMap(({ webhookId, deliveries }) =>
    deliveries.map(({ id, takenAt }) => ({
      ...{ webhookId, deliveryId: id, takenAt, kind: "delivered" as const },
      attempt: {
        ...{ at: new Date().toISOString(), durationMs: 1, outcome: "delivered" as const },
        ...{ status: 204, error: null, response: "" },
      },
    })),
  );

/** Takes and settles what is due, a turn of each; resolves with the number of deliveries. */
async function deliverOnce(webhookIds: readonly string[]): Promise<number> {
  const turns = await claim(pools.sql, writer, webhookIds);
  const settled = settlements([...turns.values()]);
  await settle(pools.notes, settled);
  await release(pools.notes, writer, webhookIds);
  return settled.length;
}

/** Rows that were read by reading the deliveries through, as Postgres counts them. */
async function readThrough(): Promise<number> {
  const [row] = await admin<{ rows: number }[]>`
    select seq_tup_read::int as rows from pg_stat_user_tables where relname = 'delivery'`;
  return row?.rows ?? 0;
}

test("deliveries are taken and settled by indexes, however small the tables were before", async () => {
  // Each of the pools' connections prepares its statements.
  for (let round = 0; round < 60; round += 1) {
    await addEvents(1, 4);
    await Promise.all(["1", "2", "3", "4"].map((id) => deliverOnce([id])));
  }
  await addEvents(EVENTS, WEBHOOKS);
  await admin`select pg_stat_force_next_flush()`;
  // Sessions tell their counts when they have been idle for a second.
  let before = await readThrough();
  await waitFor({
    what: "Postgres to have counted what was read",
    probe: async () => {
      const now = await readThrough();
      const still = now === before;
      before = now;
      return still ? true : undefined;
    },
    intervalMs: 3000,
    timeoutMs: 60_000,
  });
  let delivered = 0;
  for (let from = 0; from < WEBHOOKS; from += 15) delivered += await deliverOnce(ids.slice(from, from + 15));
  expect(delivered).toBe(20 * WEBHOOKS);
  await waitFor({
    what: "Postgres to have counted these",
    probe: async () => {
      const [row] = await admin<{ read: number }[]>`
        select idx_tup_fetch::int as read from pg_stat_user_tables where relname = 'delivery'`;
      return (row?.read ?? 0) > delivered ? true : undefined;
    },
    intervalMs: 3000,
    timeoutMs: 60_000,
  });
  expect((await readThrough()) - before).toBeLessThan(EVENTS * WEBHOOKS);
});
