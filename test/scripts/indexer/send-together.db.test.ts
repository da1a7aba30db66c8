/**
 * Statements that are sent in one packet, without waiting for answers. What this proves: each has its own answer, and a failure
 * leaves the connection whole.
 */
import { Socket } from "node:net";
import pg from "pg";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { sendTogether } from "../../../scripts/indexer/send-together.ts";
import { freshDatabase } from "../../support/database.ts";

/** With what the types of `pg` do not name. */
type Client = pg.Client & Parameters<typeof sendTogether>[0];
const hasPipeline = (client: pg.Client): client is Client => "pipeline" in client && "connection" in client;

let client: Client;
beforeEach(async () => {
  const opened = new pg.Client(await freshDatabase({ empty: true }));
  await opened.connect();
  if (!hasPipeline(opened)) throw new Error("this version of pg has no pipeline");
  client = opened;
  await client.query("create table sample (id integer primary key)");
});
afterEach(() => client.end());

const insert = (id: number) =>
  client.query({ name: "insert", text: "insert into sample values ($1)", values: [id] });
const stored = async () => (await client.query("select id from sample order by id")).rows.map(({ id }) => id);

test("all are sent in one packet before the first answer, and each has its own", async () => {
  const { stream } = client.connection;
  if (!(stream instanceof Socket)) throw new Error("the connection has no socket");
  const [one, several] = [vi.spyOn(stream, "_write"), vi.spyOn(stream, "_writev")];
  const answers: unknown[] = [];
  const ask = (value: number) =>
    client.query("select $1::int as value", [value]).then(({ rows }) => answers.push(rows[0]?.value));
  const sending = sendTogether(client, { pipelined: true }, () => [1, 2, 3].map(ask));
  expect(client).toMatchObject({ _queryQueue: [], _sentQueryQueue: { length: 2 } });
  await sending;
  expect([one.mock.calls.length, several.mock.calls.length]).toEqual([0, 1]);
  expect(answers).toEqual([1, 2, 3]);
});

test("after a statement that fails, the transaction goes on at its savepoint, and prepared statements run", async () => {
  await client.query("begin");
  await insert(1);
  const failures: string[] = [];
  const asked = (what: string, statement: Promise<unknown>) =>
    statement.catch((error: unknown) => {
      failures.push(what);
      throw error;
    });
  const sending = sendTogether(client, { pipelined: true }, () => [
    asked("savepoint", client.query("savepoint flush")),
    asked("insert 2", insert(2)),
    asked("insert 1", insert(1)),
    asked("update", client.query({ name: "update", text: "update sample set id = id + $1", values: [10] })),
  ]);
  await expect(sending).rejects.toThrow(/duplicate key/);
  expect(failures).toEqual(["insert 1", "update"]);
  await client.query("rollback to flush");
  await insert(3);
  await client.query({ name: "update", text: "update sample set id = id + $1", values: [10] });
  await client.query("commit");
  expect(await stored()).toEqual([11, 13]);
});

test("it rejects with what failed first, though another one stands before it", async () => {
  await client.query("begin");
  const later = async () => {
    await new Promise(setImmediate);
    await insert(2);
  };
  const sending = sendTogether(client, { pipelined: true }, () => [later(), client.query("select 1 / 0")]);
  await expect(sending).rejects.toThrow(/division by zero/);
  await client.query("rollback");
});

test("what is not pipelined, and what comes afterwards, waits for the answer before it", async () => {
  const three = () => [1, 2, 3].map(insert);
  const sending = sendTogether(client, { pipelined: false }, three);
  const waiting = { _queryQueue: { length: 2 }, _sentQueryQueue: [] };
  expect(client).toMatchObject(waiting);
  await sending;
  await sendTogether(client, { pipelined: true }, () => [4, 5].map(insert));
  const after = Promise.all([6, 7, 8].map(insert));
  expect(client).toMatchObject(waiting);
  await after;
  expect(await stored()).toEqual([1, 2, 3, 4, 5, 6, 7, 8]);
});

test("what fails before it is sent leaves the connection whole", async () => {
  const send = () => {
    throw new Error("no statement");
  };
  await expect(sendTogether(client, { pipelined: true }, send)).rejects.toThrow("no statement");
  await insert(1);
  expect(await stored()).toEqual([1]);
});

test("when the connection ends, all that were sent fail", async () => {
  client.on("error", () => {});
  const statements: Promise<unknown>[] = [];
  const sending = sendTogether(client, { pipelined: true }, () => {
    statements.push(client.query("select pg_terminate_backend(pg_backend_pid())"), insert(1), insert(2));
    return statements;
  });
  await expect(sending).rejects.toThrow();
  const settled = await Promise.allSettled(statements);
  expect(settled.map(({ status }) => status)).toEqual(["rejected", "rejected", "rejected"]);
  await expect(insert(3)).rejects.toThrow();
});
