/** However connections end: what has resolved has run, and no statement of a transaction runs outside of it. */
import { EventEmitter, once } from "node:events";
import type { Sql } from "postgres";
import { expect, onTestFinished, test } from "vitest";
import { connect, isConnectionError } from "../../../lib/db/connect.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { freshDatabase } from "../../support/database.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";

/** Each meets the race of a socket's error, its close and a new statement in one turn of the event loop, or nearly so. */
const ROUNDS = 5;

/** A pool through a proxy, and a connection without, with a table of what has run. */
async function open(max: number) {
  const url = await freshDatabase({ empty: true });
  const proxy = await startTcpProxy(url);
  const pool = connect(proxy.url, { name: "test", max, statementTimeout: 2000 });
  const direct = connect(url, { name: "test-direct", max: 1 });
  onTestFinished(async () => {
    await Promise.all([pool.close(), direct.close()]);
  });
  await direct.sql`create table done (id text)`;
  const hasRun = async (id: string) => (await direct.sql`select from done where id = ${id}`).length;
  return { proxy, sql: pool.sql, direct: direct.sql, hasRun };
}

const settled = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).then(
    () => "resolved",
    (error: unknown) => error,
  );

const isSessionOf = (direct: Sql, statement: string) => async () =>
  (await direct`select from pg_stat_activity where query = ${statement} and state = 'active'`).length > 0 ||
  undefined;

/** Uses all connections of the pool. */
const useAll = (sql: Sql, max: number) =>
  Promise.all(Array.from({ length: max }, () => sql`select pg_sleep(0.02)`));

test.for([1, 2, 3])(
  "what a pool of %i resolves right after its connections were reset has run",
  async (max) => {
    const { proxy, sql, direct, hasRun } = await open(max);
    const failed = new Error("the body fails");
    const works = {
      statement: (id: string) => sql`insert into done values (${id})`,
      transaction: (id: string) => sql.begin((tx) => tx`insert into done values (${id})`),
      "failed transaction": (id: string) =>
        sql.begin(async (tx) => {
          await tx`insert into done values (${id})`;
          throw failed;
        }),
    };
    for (let round = 0; round < ROUNDS; round += 1)
      for (const [name, work] of Object.entries(works)) {
        const id = `${name} ${round}`;
        await useAll(sql, max);
        const slow = `select pg_sleep(60) -- ${id}`;
        const next = sql.unsafe(slow).then(
          () => "not reset",
          () => settled(work(id)),
        );
        await waitFor({ what: "the statement to run", probe: isSessionOf(direct, slow), intervalMs: 10 });
        proxy.reset();
        // Statements fail while connections close, and then all connections can be used again.
        const others: unknown[] = [];
        await expect
          .poll(async () => others[others.push(await settled(useAll(sql, max))) - 1], { interval: 10 })
          .toBe("resolved");
        expect(others).not.toContainEqual(expect.objectContaining({ code: "CONNECT_TIMEOUT" }));
        const outcome = await next;
        if (outcome === "resolved") expect(await hasRun(id), id).toBe(1);
        else if (outcome === failed) expect(await hasRun(id), id).toBe(0);
        else expect(isConnectionError(outcome), String(outcome)).toBe(true);
      }
  },
);

test("after a connection that ended amid its rows, the next statement runs and has its own rows only", async () => {
  const { sql } = await open(1);
  const ended = await settled(sql`
    select repeat('x', 10000), case n when 50 then pg_terminate_backend(pg_backend_pid()) end
    from generate_series(1, 100) n`);
  expect(isConnectionError(ended)).toBe(true);
  expect([...(await sql`select 1 as one`)]).toEqual([{ one: 1 }]);
});

test("once its connection has ended, a transaction runs no statement, and no rollback", async () => {
  const { sql, direct, hasRun } = await open(1);
  const failed = new Error("the wait fails");
  const waits = new EventEmitter();
  const end = once(waits, "end");
  const bodies = ["statement", "commit", "rollback"].map((then) =>
    settled(
      sql.begin(async (tx) => {
        const [row] = await tx<{ pid: number }[]>`select pg_backend_pid() as pid`;
        await direct`select pg_terminate_backend(${row?.pid ?? 0})`;
        await end;
        if (then === "statement") await tx`insert into done values (${then})`;
        if (then === "rollback") throw failed;
      }),
    ),
  );
  for (const body of bodies) expect(isConnectionError(await body)).toBe(true);
  // The pool's connection is in another transaction when the bodies go on.
  await sql.begin(async (tx) => {
    await tx`insert into done values ('other')`;
    waits.emit("end");
    await new Promise(setImmediate);
    await tx`select 1`;
  });
  expect([await hasRun("other"), await hasRun("statement")]).toEqual([1, 0]);
});

test("a transaction behind as many statements as a connection takes at once has its connection to itself", async () => {
  const { sql, hasRun } = await open(2);
  const failed = new Error("the body fails");
  // postgres.js sends a connection 101 statements before it waits for an answer.
  for (const ahead of [199, 200, 201, 202]) {
    await useAll(sql, 2);
    const before = Array.from({ length: ahead }, () => sql`select 1`.execute());
    const body = sql.begin(async (tx) => {
      await tx`insert into done values (${`inside ${ahead}`})`;
      throw failed;
    });
    const after = [1, 2, 3, 4].map((n) => sql`insert into done values (${`after ${ahead} ${n}`})`.execute());
    expect(await settled(body)).toBe(failed);
    await Promise.all([...before, ...after]);
    expect(await hasRun(`inside ${ahead}`)).toBe(0);
    for (const n of [1, 2, 3, 4]) expect(await hasRun(`after ${ahead} ${n}`)).toBe(1);
  }
});
