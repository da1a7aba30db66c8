import { sql as statement } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { expect, onTestFinished, test } from "vitest";
import { connect } from "../../../lib/db/connect.ts";
import { freshDatabase } from "../../support/database.ts";

/** Ends its own session, as a restart of Postgres does. */
const endOwnSession = "select pg_terminate_backend(pg_backend_pid())";

async function open(max: number) {
  const connection = connect(await freshDatabase({ empty: true }), { name: "test", max });
  onTestFinished(connection.close);
  return connection;
}

/** A statement on a session that has just ended fails once; the pool then opens a new one. */
const works = (query: () => Promise<unknown>) =>
  expect.poll(() => query().then(() => "works", String)).toBe("works");

// postgres.js throws past every handler when it rolls back on a lost connection: it ended the process.
test.each([1, 3])("a transaction whose connection is lost rejects, and a pool of %i goes on", async (max) => {
  const { sql } = await open(max);
  const db = drizzle(sql);
  for (let round = 0; round < 3; round++) {
    await expect(sql.begin((tx) => tx.unsafe(endOwnSession))).rejects.toThrow();
    await works(() => sql`select 1`);
    await expect(
      db.transaction((tx) => tx.execute(statement.raw(endOwnSession)), {
        isolationLevel: "repeatable read",
      }),
    ).rejects.toThrow();
    await works(() => db.transaction((tx) => tx.execute(statement.raw("select 1"))));
  }
});

test("a transaction that fails for another reason is rolled back and rejects with it", async () => {
  const { sql } = await open(1);
  await sql`create table thing (id integer)`;
  const fault = new Error("no");
  await expect(
    sql.begin(async (tx) => {
      await tx`insert into thing values (1)`;
      throw fault;
    }),
  ).rejects.toBe(fault);
  expect(await sql`select * from thing`).toEqual([]);
  expect(await sql.begin("read only", (tx) => tx`select count(*)::int as n from thing`)).toEqual([{ n: 0 }]);
});
