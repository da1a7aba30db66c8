import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { expect, test } from "vitest";
import { clearStaleLock, lockSchema, SchemaTakenError } from "../../../scripts/indexer/schema-lock.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase, waitForLockWaiter } from "../../support/database.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";

async function admin(url: string): Promise<postgres.Sql> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end());
  return sql;
}

const neverLost = () => {
  throw new Error("the lock must not be lost");
};

test("one indexer at a time locks a schema, until its session ends", async () => {
  const url = await freshDatabase({ empty: true });
  const first = await lockSchema(url, "idx_a", neverLost);
  await expect(lockSchema(url, "idx_a", neverLost)).rejects.toThrow(SchemaTakenError);
  const other = await lockSchema(url, "idx_b", neverLost);
  await Promise.all([first.release(), other.release()]);
  const next = await lockSchema(url, "idx_a", neverLost);
  await next.release();
});

test("a lock is taken again after its connection breaks", async () => {
  const url = await freshDatabase({ empty: true });
  const guard = await lockSchema(url, "idx_a", neverLost);
  atEnd(() => guard.release());
  const sql = await admin(url);
  const holder = () =>
    sql<{ pid: number }[]>`
      select pid from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`;
  const [before] = await holder();
  await sql`select pg_terminate_backend(${before?.pid ?? 0})`;
  const after = await waitFor({
    what: "the lock to be taken again",
    // The ended session may still hold it for a moment.
    probe: async () => (await holder()).map(({ pid }) => pid).find((pid) => pid !== before?.pid),
  });
  expect(after).toBeGreaterThan(0);
});

test("a lock is taken again after its server vanished without closing the connection, and kept while nothing else happens", async () => {
  const url = await freshDatabase({ empty: true });
  const proxy = await startTcpProxy(url);
  const guard = await lockSchema(proxy.url, "idx_a", neverLost);
  atEnd(() => guard.release());
  const sql = await admin(url);
  const holder = async () => {
    const [lock] = await sql<{ pid: number }[]>`
      select pid from pg_locks where locktype = 'advisory' and granted
      and database = (select oid from pg_database where datname = current_database())`;
    return lock?.pid;
  };
  const first = await holder();
  await waitFor({
    what: "more silence than a connection without heartbeats may have",
    probe: async () => {
      const [row] = await sql<{ old: boolean }[]>`
        select now() > backend_start + interval '15 s' as old from pg_stat_activity
        where application_name = 'idx_a_guard' and datname = current_database()`;
      return row?.old || undefined;
    },
  });
  expect(await holder()).toBe(first);
  proxy.vanish();
  await expect.poll(async () => (await holder()) ?? first).not.toBe(first);
});

test("an indexer is notified when another one takes its lock during an outage", async () => {
  const url = await freshDatabase({ empty: true });
  let lost = 0;
  const guard = await lockSchema(url, "idx_a", () => {
    lost += 1;
  });
  const sql = await admin(url);
  const other = await admin(url);
  // The other session waits for the lock already when the guard's ends, so it has the lock before the guard reconnects.
  const taken = other`select pg_advisory_lock(hashtextextended('ponder:idx_a', 0))`.execute();
  await waitForLockWaiter(sql);
  await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'idx_a_guard' and datname = current_database()`;
  await taken;
  await waitFor({
    what: "the loss to be noticed",
    probe: () => (lost > 0 ? true : undefined),
  });
  await sleep(300);
  expect(lost).toBe(1);
  await guard.release();
});

test("a stale lock row of a crashed indexer is cleared", async () => {
  const url = await freshDatabase({ empty: true });
  const sql = await admin(url);
  await clearStaleLock(sql, "idx_a"); // no schema yet: nothing to clear
  await sql`create schema idx_a`;
  await sql`create table idx_a._ponder_meta (key text primary key, value jsonb)`;
  await sql`insert into idx_a._ponder_meta values ('app', '{"is_locked": 1, "is_ready": 1}')`;
  await clearStaleLock(sql, "idx_a");
  expect((await sql`select value from idx_a._ponder_meta`)[0]?.value).toEqual({ is_locked: 0, is_ready: 1 });
});
