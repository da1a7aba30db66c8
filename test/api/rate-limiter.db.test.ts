import { expect, onTestFinished, test, vi } from "vitest";
import { countInMemory, countInPostgres, MAX_CLIENTS, openCounts } from "../../api/http/limits/counters.ts";
import { createLimiter } from "../../api/http/limits/limiter.ts";
import { asApi } from "../../lib/db/api-role.ts";
import { connect } from "../../lib/db/connect.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest } from "../support/database.ts";

function limiter() {
  const window = { name: "test", limit: 2, seconds: 60 };
  return createLimiter({ window, redis: undefined, fallback: countInMemory(window), onRedisError: () => {} });
}

test("peek counts nothing, and reports whether the next request would be refused", async () => {
  const { consume, peek } = limiter();
  expect(await peek("a")).toMatchObject({ limit: 2, remaining: 2, resetSeconds: 60, exceeded: false });
  await consume("a");
  expect(await peek("a")).toMatchObject({ remaining: 1, exceeded: false });
  expect(await consume("a")).toMatchObject({ remaining: 0, exceeded: false });
  expect(await peek("a")).toMatchObject({ remaining: 0, exceeded: true });
  expect(await consume("a")).toMatchObject({ remaining: 0, exceeded: true });
  expect(await peek("b")).toMatchObject({ remaining: 2, exceeded: false });
});

test("above the maximum number of clients, the oldest client's count is dropped", async () => {
  const { consume, peek } = limiter();
  await consume("first");
  await consume("second");
  for (let i = 2; i < MAX_CLIENTS; i += 1) await consume(`client ${i}`);
  expect([(await peek("first")).remaining, (await peek("second")).remaining]).toEqual([1, 1]);
  await consume("one too many");
  expect([(await peek("first")).remaining, (await peek("second")).remaining]).toEqual([2, 1]);
});

test("Postgres counts per window, and deletes the rows of windows that ended over an hour ago", async () => {
  const url = await freshDatabase();
  const { sql, close } = connect(url, { name: "test", max: 1 });
  const opened = openCounts(asApi(url));
  atEnd(close);
  atEnd(opened.close);
  await sql`insert into service.rate_limit values ('ended', 3, ${Date.now() - 3_700_000}), ('ends', 3, ${Date.now() - 1000})`;
  const keys = async () => (await sql`select key from service.rate_limit order by key`).map(({ key }) => key);

  onTestFinished(() => void vi.useRealTimers());
  vi.useFakeTimers({ toFake: ["setTimeout"] });
  const counter = countInPostgres({ name: "test", limit: 2, seconds: 60 }, opened.pool);
  vi.advanceTimersByTime(5 * 60_000);
  vi.useRealTimers();
  await expect.poll(keys).toEqual(["ends"]);

  expect(await counter.look("a")).toBeNull();
  const counts = await Promise.all(["a", "a", "a", "b"].map((client) => counter.consume(client)));
  expect(counts.map(({ used, exceeded }) => [used, exceeded]).sort()).toEqual([
    ...[
      [1, false],
      [1, false],
    ],
    ...[
      [2, false],
      [3, true],
    ],
  ]);
  expect(await counter.look("a")).toMatchObject({ exceeded: true });
  expect(await counter.consume("a")).toMatchObject({ exceeded: true });
  expect(await keys()).toEqual(["cover:limit:test:a", "cover:limit:test:b", "ends"]);
});

test("while Postgres hangs, requests that cannot be counted find it unavailable", async () => {
  const url = await freshDatabase();
  const { sql, close } = connect(url, { name: "test", max: 1 });
  const { pool, close: closeCounts } = openCounts(asApi(url));
  atEnd(close);
  atEnd(closeCounts);
  const counter = countInPostgres({ name: "test", limit: 5, seconds: 60 }, pool);
  const outcomes = await sql.begin(async (tx) => {
    await mayRest(tx);
    await tx`lock table service.rate_limit in access exclusive mode`;
    return Promise.allSettled(["a", "b", "c", "d"].map((client) => counter.consume(client)));
  });
  for (const outcome of outcomes) expect(outcome).toMatchObject({ reason: { code: "database_unavailable" } });
  await expect.poll(() => counter.consume("a").then(({ exceeded }) => exceeded, String)).toBe(false);
});

test("requests that come to two processes together are counted exactly", async () => {
  const url = asApi(await freshDatabase());
  const window = { name: "test", limit: 5, seconds: 60 };
  const open = () => {
    const counts = openCounts(url);
    atEnd(counts.close);
    return countInPostgres(window, counts.pool);
  };
  const [one, other] = [open(), open()];
  const clients = ["a", "b", "c"];
  const requests = Array.from({ length: 10 }, () => clients).flat();
  const counted = async ({ consume }: typeof one) =>
    Promise.all(requests.map(async (client) => ({ client, ...(await consume(client)) })));
  await one.consume("a");
  const counts = (await Promise.all([counted(one), counted(other)])).flat();
  for (const [n, client] of clients.entries()) {
    const own = counts.filter((count) => count.client === client);
    const expected = Array.from({ length: 20 }, (_, i) => i + (n === 0 ? 2 : 1));
    expect(own.map(({ used }) => used).sort((a, b) => a - b)).toEqual(expected);
    expect(own.every(({ used, exceeded }) => exceeded === used > 5)).toBe(true);
  }
});
