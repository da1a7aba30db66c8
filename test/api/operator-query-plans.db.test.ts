/**
 * What this proves: a page of the operator's lists reads rows of about a page, through indexes, whatever the number of keys,
 * webhooks, deliveries, stops and failed tasks, also once Postgres plans a prepared statement without its values; and pages that
 * follow each other's cursors show each row once.
 */
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { readKeys } from "../../api/admin/key-queries.ts";
import { readLateWebhooks } from "../../api/admin/webhook-queries.ts";
import { connect } from "../../lib/db/connect.ts";
import { failedTasks } from "../../lib/ledger/keeper-tasks.ts";
import { listStops, type Stop, subjectOf } from "../../lib/ledger/stops.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const chainId = 1;
/** Rows of each table. */
const ROWS = 30_000;
const LIMIT = 10;
/** After five runs Postgres may plan a statement without its values. */
const RUNS = 7;
const wallet = `0x${"ab".repeat(20)}` as const;

let sql: Sql;
beforeAll(async () => {
  // A single session, because a session reports its own statistics on request.
  const connection = connect(await freshDatabase(), { name: "test", max: 1, statementTimeout: 0 });
  atEnd(connection.close);
  sql = connection.sql;
  const address = sql`'0x' || lpad(to_hex(n), 40, '0')`;
  await sql`insert into service.api_key (key_hash, wallet, tier)
    select 'h' || n, case when n % 3 = 0 then ${wallet} else ${address} end, 'free' from generate_series(1, ${ROWS}::int) n`;
  await sql`insert into service.stop (scope, subject, reason)
    select 'wallet', ${address}, 'test' from generate_series(1, ${ROWS}::int) n`;
  await sql`insert into service.keeper_task (chain_id, purpose, product_id, policy_id, failures, failure)
    select ${chainId}::int, 'trigger', '0x' || repeat('ab', 32), n, n % 7, case when n % 7 > 0 then 'refused' end
    from generate_series(1, ${ROWS}::int) n`;
  await sql`insert into service.webhook
      (chain_id, wallet, url, events, secret, from_block, processed_block, processed_event, state, position, undeliverable_at)
    select ${chainId}::int, ${wallet}, 'http://127.0.0.1/', array['*'], 'sealed', 0, 0, 0,
      case when n % 100 = 0 then 'undeliverable' else 'active' end, case when n % 100 = 0 then 0 end,
      case when n % 100 = 0 then now() end
    from generate_series(1, ${ROWS}::int) n`;
  await sql`insert into service.event (chain_id, id, key, type, parties, body)
    select ${chainId}::int, 'evt_' || n, n, 'bond_minted', '{}', '{}' from generate_series(1, 20) n`;
  // Most are delivered; every fiftieth webhook has a backlog, of which undeliverable ones were given up.
  await sql`insert into service.delivery (webhook_id, event_seq, state, delivered_at)
    select w.id, e.seq, case when w.id % 50 > 0 then 'delivered' when w.id % 100 = 0 then 'undeliverable' else 'pending' end,
      case when w.id % 50 > 0 then now() end
    from service.webhook w, service.event e`;
  await sql`analyze`;
});

const tables = ["api_key", "stop", "keeper_task", "webhook", "delivery"];

async function readSoFar(): Promise<{ scanned: number; fetched: number }> {
  await sql`select pg_stat_force_next_flush()`;
  const [row] = await sql<{ scanned: string; fetched: string }[]>`
    select sum(seq_tup_read) as scanned, sum(idx_tup_fetch) as fetched from pg_stat_user_tables
    where schemaname = 'service' and relname = any(${tables}::text[])`;
  return { scanned: Number(row?.scanned), fetched: Number(row?.fetched) };
}

/** Reads some pages, one after the other. `most`: rows that a page may read. @returns the pages */
async function expectPages<Row>(
  page: (last: Row | undefined) => Promise<readonly Row[]>,
  most: number,
): Promise<(readonly Row[])[]> {
  const before = await readSoFar();
  const pages: (readonly Row[])[] = [];
  for (let run = 0; run < RUNS; run += 1) pages.push(await page(pages.at(-1)?.[LIMIT - 1]));
  const after = await readSoFar();
  expect(after.scanned - before.scanned, "rows that were scanned").toBe(0);
  expect(after.fetched - before.fetched, "rows that were read through indexes").toBeLessThan(RUNS * most);
  return pages;
}

/** All rows of pages that were read with one row more than the limit. */
function rowsOf<Row>(pages: readonly (readonly Row[])[]): Row[] {
  expect(pages.map(({ length }) => length)).toEqual(pages.map(() => LIMIT + 1));
  return pages.flatMap((page) => page.slice(0, LIMIT));
}

test("keys of all wallets, and of one", async () => {
  const all = await expectPages<{ keyId: number }>(
    (last) => readKeys(sql, { limit: LIMIT, cursor: last?.keyId }),
    LIMIT * 4,
  );
  expect(rowsOf(all).map(({ keyId }) => keyId)).toEqual(Array.from({ length: 70 }, (_, n) => ROWS - n));
  const own = await expectPages<{ keyId: number }>(
    (last) => readKeys(sql, { limit: LIMIT, wallet, cursor: last?.keyId }),
    LIMIT * 4,
  );
  expect(rowsOf(own).map(({ keyId }) => keyId)).toEqual(Array.from({ length: 70 }, (_, n) => ROWS - 3 * n));
});

test("stops", async () => {
  const pages = await expectPages<Stop>((last) => {
    const after = last && { scope: last.scope, subject: subjectOf(last) };
    return listStops(sql, { limit: LIMIT + 1, after });
  }, LIMIT * 3);
  expect(rowsOf(pages).map((stop) => Number(subjectOf(stop)))).toEqual(
    Array.from({ length: 70 }, (_, n) => n + 1),
  );
});

test("the keeper's failed work", async () => {
  const pages = await expectPages(() => failedTasks(sql, LIMIT + 1), LIMIT * 2);
  for (const { failures } of rowsOf(pages)) expect(failures).toBe(6);
});

test("webhooks that are behind", async () => {
  const pages = await expectPages<{ id: number; undelivered: number; state: string }>(
    (last) => readLateWebhooks(sql, { limit: LIMIT, cursor: last?.id }),
    // For each of a page: its events, the oldest of them, and the look for the next one.
    LIMIT * 100,
  );
  const rows = rowsOf(pages);
  expect(rows.map(({ id }) => id)).toEqual(rows.map((_, n) => (n + 1) * 50));
  expect(rows.map(({ undelivered }) => undelivered)).toEqual(rows.map(() => 20));
  expect(rows.map(({ state }) => state)).toEqual(rows.map((_, n) => (n % 2 ? "undeliverable" : "active")));
});
