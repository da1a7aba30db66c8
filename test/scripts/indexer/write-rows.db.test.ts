/** What this proves: the rows of a live block arrive as Ponder would write them, whatever their types. */

import pg from "pg";
import { onchainTable, primaryKey } from "ponder";
import { afterEach, beforeEach, expect, test } from "vitest";
import { writeRows } from "../../../scripts/indexer/write-rows.ts";
import { freshDatabase } from "../../support/database.ts";

const sample = onchainTable(
  "sample",
  (t) => ({
    id: t.bigint().notNull(),
    part: t.integer().notNull(),
    buyer: t.hex().notNull(),
    reason: t.text(),
    args: t.jsonb(),
    active: t.boolean(),
  }),
  (table) => ({ pk: primaryKey({ columns: [table.id, table.part] }) }),
);
const LARGEST = 2n ** 256n - 1n;

/** The driver through which Ponder writes. */
let client: pg.Client;
beforeEach(async () => {
  client = new pg.Client(await freshDatabase({ empty: true }));
  await client.connect();
  await client.query(
    "create table sample (id numeric(78), part integer, buyer text not null, reason text, args jsonb, active boolean, primary key (id, part))",
  );
});
afterEach(() => client.end());

const write = (rows: readonly Record<string, unknown>[], { replace = false } = {}) =>
  client.query(writeRows(sample, rows, { nameOf: ({ name }) => name, primaryKey: ["id", "part"], replace }));
const stored = async () =>
  (await client.query("select id::text, part, buyer, reason, args, active from sample order by id, part"))
    .rows;
const row = (id: bigint, part: number) => ({
  id,
  part,
  buyer: "0xABCDEF",
  reason: 'a "quoted" \\ text\nof two lines, 𝔘nicode',
  args: { list: ["1", true], nested: { note: "x" } },
  active: false,
});

test("rows are inserted with the largest integer, quotes, JSON, a boolean and what is missing as null", async () => {
  await write([row(LARGEST, 1), { id: 1n, part: 2, buyer: "0x01", reason: null }]);
  expect(await stored()).toEqual([
    { id: "1", part: 2, buyer: "0x01", reason: null, args: null, active: null },
    { ...row(LARGEST, 1), id: LARGEST.toString(), buyer: "0xabcdef" },
  ]);
});

test("a row with a key that is there replaces that row, and another one is inserted", async () => {
  await write([row(1n, 1), row(1n, 2)]);
  await write([{ ...row(1n, 2), reason: "changed", args: null }, row(2n, 1)], { replace: true });
  expect(await stored()).toMatchObject([
    { id: "1", part: 1, reason: row(1n, 1).reason, args: row(1n, 1).args },
    { id: "1", part: 2, reason: "changed", args: null },
    { id: "2", part: 1, reason: row(1n, 1).reason, args: row(1n, 1).args },
  ]);
});

test("two inserts of one key fail as two inserts do", async () => {
  await write([row(1n, 1)]);
  await expect(write([row(1n, 1)])).rejects.toThrow(/duplicate key value/);
});
