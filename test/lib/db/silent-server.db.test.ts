/**
 * The database's host vanishes: its connections stay open, nothing comes back, and another server takes its address; or something
 * else accepts its connections. The tests mostly wait for time limits, each on a database of its own, so they run at the same time.
 */
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { type TestContext, test } from "vitest";
import { connect, isConnectionError } from "../../../lib/db/connect.ts";
import { listenTo } from "../../../lib/db/listen.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { freshDatabase } from "../../support/database.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";

/** A pool through a proxy, with a statement time-out of a second. */
async function open({ onTestFinished }: TestContext, max: number) {
  const url = await freshDatabase({ empty: true });
  const proxy = await startTcpProxy(url);
  const pool = connect(proxy.url, { name: "test", max, statementTimeout: 1000 });
  const direct = connect(url, { name: "test-direct", max: 1 });
  onTestFinished(async () => {
    await Promise.all([pool.close(), direct.close()]);
  });
  await direct.sql.unsafe(`alter database ${new URL(url).pathname.slice(1)} set statement_timeout = '1s'`);
  return { url, proxy, sql: pool.sql, direct: direct.sql };
}

const failure = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => "no failure",
    (error: unknown) => error,
  );

test.concurrent("statements on connections to a vanished server fail as a lost database, and those behind them are answered", async (context) => {
  const { expect } = context;
  const { proxy, sql } = await open(context, 2);
  await Promise.all([sql`select pg_sleep(0.1)`, sql`select pg_sleep(0.1)`]);
  proxy.vanish();
  const outcomes = await Promise.all(Array.from({ length: 6 }, (_, n) => failure(sql`select ${n}::int`)));
  expect(outcomes.filter(isConnectionError)).toHaveLength(2);
  expect(outcomes.filter((outcome) => outcome === "no failure")).toHaveLength(4);
});

test.concurrent("a transaction on a vanished server rejects, and its connection is free again", async (context) => {
  const { expect } = context;
  const { proxy, sql } = await open(context, 1);
  const lost = failure(
    sql.begin(async (tx) => {
      await tx`select 1`;
      proxy.vanish();
      await tx`select 2`;
    }),
  );
  expect(isConnectionError(await lost)).toBe(true);
  expect(await sql`select 1 as one`).toEqual([{ one: 1 }]);
});

test.concurrent("statements that keep coming do not prolong the wait for a vanished server", async (context) => {
  const { expect } = context;
  const { proxy, sql } = await open(context, 1);
  await sql`select 1`;
  proxy.vanish();
  let answered = false;
  const first = failure(sql`select 'first'`).finally(() => {
    answered = true;
  });
  const later: Promise<unknown>[] = [];
  await waitFor({
    what: "the first statement to fail while others follow it",
    probe: () => {
      later.push(failure(sql`select 'later'`));
      return answered || undefined;
    },
    intervalMs: 200,
  });
  expect(isConnectionError(await first)).toBe(true);
  await Promise.all(later);
});

test.concurrent("a statement that takes its whole time limit is answered by the server, also on a connection that rested", async (context) => {
  const { expect } = context;
  const { sql } = await open(context, 1);
  await expect(sql`select pg_sleep(60)`).rejects.toMatchObject({ code: "57014" });
  await sleep(900);
  await expect(sql`select pg_sleep(60)`).rejects.toMatchObject({ code: "57014" });
});

const AUTHENTICATION_OK = Buffer.from([...Buffer.from("R"), 0, 0, 0, 8, 0, 0, 0, 0]);

// A load balancer does so while it has no server behind it, and a pooler in between when its own server refuses.
test.concurrent.for([
  ["at once", "with", Buffer.of(), 1000],
  ["at once", "without", Buffer.of(), 0],
  ["after their first bytes", "with", AUTHENTICATION_OK, 1000],
  ["after their first bytes", "without", AUTHENTICATION_OK, 0],
] as const)(
  "connections are accepted and closed %s: statements %s a time limit fail, each after one attempt",
  async ([_, __, answer, statementTimeout], { expect }) => {
    let attempts = 0;
    const balancer = createServer((client) => {
      attempts += 1;
      client.resume().end(answer);
    });
    await once(balancer.listen(0, "127.0.0.1"), "listening");
    const { port } = balancer.address() as AddressInfo;
    const { sql, close } = connect(`postgres://127.0.0.1:${port}/none`, {
      name: "test",
      max: 1,
      statementTimeout,
    });
    try {
      for (let statement = 1; statement <= 3; statement += 1) {
        expect(isConnectionError(await failure(sql`select 1`))).toBe(true);
        expect(attempts).toBe(statement);
      }
    } finally {
      await close();
      balancer.close();
    }
  },
);

test.concurrent("a listener whose server vanished while nothing was announced listens again", async (context) => {
  const { expect, onTestFinished } = context;
  const { proxy, direct } = await open(context, 1);
  let starts = 0;
  const heard: string[] = [];
  const listener = listenTo(proxy.url, {
    name: "test-listener",
    channel: "news",
    onNotification: (payload) => heard.push(payload),
    onStart: () => {
      starts += 1;
    },
  });
  onTestFinished(() => listener.close());
  await expect.poll(() => starts).toBe(1);
  proxy.vanish();
  await expect.poll(() => starts).toBe(2);
  await direct`select pg_notify('news', 'again')`;
  await expect.poll(() => heard).toEqual(["again"]);
});

test.concurrent.for([
  ["", 0],
  [", also after an outage of several heartbeats", 10_000],
] as const)(
  "a listener keeps its connection while nothing is announced%s",
  async ([_, outageMs], context) => {
    const { expect, onTestFinished } = context;
    const { proxy, direct } = await open(context, 1);
    let starts = 0;
    const listener = listenTo(proxy.url, {
      name: "test-listener",
      channel: "news",
      onNotification: () => {},
      onStart: () => {
        starts += 1;
      },
    });
    onTestFinished(() => listener.close());
    await expect.poll(() => starts).toBe(1);
    if (outageMs > 0) {
      await proxy.cut();
      await sleep(outageMs);
      await proxy.mend();
      await expect.poll(() => starts).toBe(2);
    }
    const started = starts;
    const pid = async () => {
      const rows = await direct<{ pid: number; beats: boolean }[]>`
      select pid, state_change > backend_start + interval '8 seconds' as beats
      from pg_stat_activity where application_name = 'test-listener' and datname = current_database()
      order by backend_start desc`;
      return rows[0];
    };
    const first = await pid();
    await waitFor({
      what: "a heartbeat after more silence than a connection may have",
      probe: async () => (await pid())?.beats || undefined,
    });
    expect((await pid())?.pid).toBe(first?.pid);
    expect(starts).toBe(started);
  },
);
