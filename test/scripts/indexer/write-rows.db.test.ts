/** What this proves: our statements write the same rows as the inserts of drizzle, by which Ponder would write them. */
import { drizzle } from "drizzle-orm/node-postgres";

import pg from "pg";
import { onchainTable, primaryKey } from "ponder";
import { afterEach, beforeEach, expect, test } from "vitest";
import { type OnConflict, writeRows } from "../../../scripts/indexer/write-rows.ts";
import { freshDatabase } from "../../support/database.ts";

const sample = onchainTable(
  "sample",
  (t) => ({
    id: t.bigint().notNull(),
    part: t.integer().notNull(),
    paidBy: t.hex().notNull(),
    from: t.hex(),
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
    'create table sample (id numeric(78), part integer, paid_by text not null, "from" text, reason text, args jsonb, active boolean, primary key (id, part))',
  );
});
afterEach(() => client.end());

type Row = typeof sample.$inferInsert;

const write = (rows: readonly Row[], onConflict: OnConflict = "fail") =>
  client.query(writeRows(sample, rows, onConflict));
const stored = async () => (await client.query("select s::text as row from sample s order by id, part")).rows;
/** What drizzle's inserts store. */
async function storedByDrizzle(rows: Row[]) {
  await client.query("truncate sample");
  await drizzle(client, { casing: "snake_case" }).insert(sample).values(rows);
  return stored();
}
const row = (id: bigint, part: number): Row => ({
  id,
  part,
  paidBy: "0xABCDEF",
  from: "0xabc",
  reason: 'a "quoted" \\ text\nof two lines, 𝔘nicode',
  args: { list: ["1", true], nested: { note: "x" } },
  active: false,
});

test("the largest and negative integers, odd hex, quotes, JSON, a boolean, null and what is missing", async () => {
  const rows: Row[] = [
    row(LARGEST, 1),
    { id: -1n, part: -2, paidBy: "0x01", reason: null },
    { ...row(2n, 3), args: "only text", active: true },
  ];
  await write(rows);
  const ours = await stored();
  expect(ours).toHaveLength(rows.length);
  expect(ours).toEqual(await storedByDrizzle(rows));
});

test("a row with a key that is there replaces that row, and another one is inserted", async () => {
  const changed: Row = { ...row(1n, 2), reason: "changed", args: null };
  await write([row(1n, 1), row(1n, 2)]);
  await write([changed, row(2n, 1)], "replace");
  expect(await stored()).toEqual(await storedByDrizzle([row(1n, 1), changed, row(2n, 1)]));
});

test("two inserts of one key fail as two inserts do", async () => {
  await write([row(1n, 1)]);
  await expect(write([row(1n, 1)])).rejects.toThrow(/duplicate key value/);
});

test("`keep` leaves the stored row of a key as it is, and inserts a row with a new key", async () => {
  await write([row(1n, 1)]);
  await write([{ ...row(1n, 1), reason: "other" }, row(2n, 1)], "keep");
  expect(await stored()).toEqual(await storedByDrizzle([row(1n, 1), row(2n, 1)]));
});
