/** What this proves: with our changes Ponder's cache writes the rows of a batch, finds them again, and fails with the row that is refused. */
import { pgSchema } from "drizzle-orm/pg-core";
import type pg from "pg";
import { beforeAll, beforeEach, expect, test } from "vitest";
import { z } from "zod";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { loadPonder, poolFactory } from "./support/ponder-modules.ts";

/** In a schema, as the tables of an index: for updates Ponder makes a temporary table of the same name. */
const table = (name: string) =>
  pgSchema("idx").table(name, (t) => ({
    id: t.bigint({ mode: "bigint" }).primaryKey(),
    paidBy: t.text().notNull(),
    note: t.text(),
  }));
const [sample, other] = [table("sample"), table("other")];
type Row = typeof sample.$inferSelect;
/** More than Ponder writes by one statement, and more than one part. */
const MANY = 150;

const source = `
import { createIndexingCache } from "./indexing-store/cache.js";
export function openCache(pool, schema) {
  const qb = open(pool);
  const cache = createIndexingCache({ common, schemaBuild: { schema }, crashRecoveryCheckpoint: undefined, eventCount: {} });
  const inTransaction = (run) => qb.transaction(async (tx) => { cache.qb = tx; await run(); });
  return {
    insert: (table, rows) => { for (const row of rows) cache.set({ table, key: row, row: { ...row }, isUpdate: false }); },
    update: (table, rows) => { for (const row of rows) cache.set({ table, key: row, row: { ...row }, isUpdate: true }); },
    flush: () => inTransaction(() => cache.flush()),
    async find(table, key) {
      let found;
      await inTransaction(async () => { found = await cache.get({ table, key }); });
      return found;
    },
  };
}
`;
type Cache = {
  readonly insert: (table: typeof sample, rows: readonly Row[]) => void;
  readonly update: (table: typeof sample, rows: readonly Row[]) => void;
  readonly flush: () => Promise<void>;
  readonly find: (table: typeof sample, key: Pick<Row, "id">) => Promise<Row | null>;
};
const exports = z.object({
  createPool: poolFactory,
  openCache: z.custom<(pool: pg.Pool, schema: object) => Cache>(),
});

let openCache: z.output<typeof exports>["openCache"];
let pool: pg.Pool;
let cache: Cache;
beforeAll(async () => {
  const files = ["indexing-store/cache.js", "indexing-store/utils.js", "drizzle/index.js"] as const;
  const ponder = await loadPonder("changed", source, { files, exports });
  ({ openCache } = ponder);
  pool = ponder.createPool(await freshDatabase({ empty: true }));
  atEnd(() => pool.end());
  await pool.query("create schema idx");
  for (const name of ["sample", "other"]) {
    await pool.query(`create table idx.${name} (id bigint primary key, paid_by text not null, note text)`);
  }
});
beforeEach(async () => {
  await pool.query("truncate idx.sample, idx.other");
  cache = openCache(pool, { sample, other });
});

const row = (id: number, note: string | null = null): Row => ({ id: BigInt(id), paidBy: "0xab", note });
const rows = (note: (id: number) => string | null) =>
  Array.from({ length: MANY }, (_, id) => row(id, note(id)));
const stored = async (name = "sample") =>
  (await pool.query(`select id::text, paid_by, note from idx.${name} t order by t.id`)).rows.map(
    ({ id, paid_by: paidBy, note }) => ({ id: BigInt(id), paidBy, note }),
  );

test("the rows of a batch are written in parts, with tabs, new lines, backslashes and null as they are", async () => {
  const notes = ["a\tb", "a\nb\r", "\\N", '"quoted" \\t', null, ""];
  const inserted = rows((id) => notes[id % notes.length] ?? null);
  cache.insert(sample, inserted);
  await cache.flush();
  expect(await stored()).toEqual(inserted);

  const changed = rows((id) => notes[(id + 1) % notes.length] ?? null);
  cache.update(sample, changed);
  await cache.flush();
  expect(await stored()).toEqual(changed);
});

test("a row that is there fails the batch with that row's key, and the next batch is written", async () => {
  await pool.query("insert into idx.sample values (77, '0xcd', 'there')");
  cache.insert(
    sample,
    rows(() => null),
  );
  await expect(cache.flush()).rejects.toMatchObject({
    message: expect.stringContaining("duplicate key value"),
    meta: [expect.stringMatching(/^ *id +77$/m)],
  });
  expect(await stored()).toHaveLength(1);

  cache = openCache(pool, { sample, other });
  cache.insert(sample, [...rows(() => "next").filter(({ id }) => id !== 77n)]);
  await cache.flush();
  expect(await stored()).toHaveLength(MANY);
});

test("a row of a live block that Postgres refuses fails the block with that row's key, and the next block is written", async () => {
  await pool.query("insert into idx.sample values (2, '0xcd', 'there')");
  cache.insert(other, [row(1)]);
  cache.insert(sample, [row(1), row(2), row(3)]);
  await expect(cache.flush()).rejects.toMatchObject({
    message: expect.stringContaining("duplicate key value"),
    meta: [expect.stringMatching(/^ *id +2$/m)],
  });
  expect(await stored()).toMatchObject([{ id: 2n, note: "there" }]);
  expect(await stored("other")).toEqual([]);

  cache = openCache(pool, { sample, other });
  cache.insert(other, [row(1)]);
  cache.insert(sample, [row(1), row(3)]);
  await cache.flush();
  expect((await stored()).map(({ id }) => id)).toEqual([1n, 2n, 3n]);
  expect(await stored("other")).toEqual([row(1)]);
});

test("rows that were written before their table's first look-up are read from the database, and those of the batch after it are in memory", async () => {
  cache.insert(
    sample,
    rows(() => "early"),
  );
  await cache.flush();
  expect(await cache.find(sample, { id: 3n })).toEqual(row(3, "early"));
  expect(await cache.find(sample, { id: BigInt(MANY) })).toBeNull();

  const late = row(MANY + 1, "late");
  cache.insert(sample, [late]);
  await cache.flush();
  await pool.query("delete from idx.sample");
  expect(await cache.find(sample, late)).toEqual(late);
  expect(await cache.find(sample, { id: 4n }), "never looked for before").toBeNull();
});
