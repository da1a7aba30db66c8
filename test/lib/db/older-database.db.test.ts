/**
 * Some migrations were edited after databases had them. What this proves: such a database, with rows, becomes what a new one is, and
 * its purchases go on.
 */
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { migrateService } from "../../../lib/db/migrate.ts";
import { projectRoot } from "../../../lib/project-root.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { databaseUpTo } from "./support/older-database.ts";

/** Makes the migrations what they were before the edits. */
function undoEdits(folder: string): void {
  const patch = join(projectRoot, "test", "lib", "db", "edited-migrations.patch");
  // Outside of any repository, or git would look for the files there.
  execFileSync("git", ["apply", patch], { cwd: folder, env: { ...process.env, GIT_DIR: "/dev/null" } });
}

/** Everything in schema `service`, in an order that does not depend on when it was made. */
const contentOf = async (sql: Sql) => ({
  columns: await sql`
    select c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attgenerated, a.attacl::text,
      pg_get_expr(d.adbin, d.adrelid) as value
    from pg_attribute a join pg_class c on c.oid = a.attrelid left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
    where c.relnamespace = 'service'::regnamespace and c.relkind = 'r' and a.attnum > 0 and not a.attisdropped order by 1, 2`,
  tables: await sql`
    select relname, relkind, relpersistence, relacl::text from pg_class
    where relnamespace = 'service'::regnamespace order by 1`,
  constraints: await sql`
    select conrelid::regclass::text, conname, pg_get_constraintdef(oid) from pg_constraint
    where connamespace = 'service'::regnamespace order by 1, 2`,
  indexes: await sql`select indexname, indexdef from pg_indexes where schemaname = 'service' order by 1`,
  functions: await sql`
    select oid::regprocedure::text, pg_get_functiondef(oid), proacl::text from pg_proc
    where pronamespace = 'service'::regnamespace and prokind = 'f' order by 1`,
  triggers: await sql`
    select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'service'::regnamespace) order by 1, 2`,
});

const wallet = `0x${"a1".repeat(20)}`;
const buyFor = (sql: Sql, premium: number) => sql`
  insert into service.purchase
    (chain_id, wallet, idempotency_key, fingerprint, product_id, coverage_amount, asset, buyer, quoted_premium)
  values (8453, ${wallet}, ${`key ${premium}`}, 'f', ${`0x${"11".repeat(32)}`}, 100, ${`0x${"22".repeat(32)}`}, ${wallet}, ${premium})`;
const premiums = (sql: Sql) =>
  sql`select premium::text from service.waiting where kind = 'purchase' order by premium`.then((rows) => [
    ...rows,
  ]);

let older: Connection;
let fresh: Connection;
beforeAll(async () => {
  const { databaseUrl, connection } = await databaseUpTo("0017_operator", undoEdits);
  older = connection;
  await buyFor(older.sql, 7);
  await older.sql`insert into service.gas_day (chain_id, day, wallet, wei) values (8453, current_date, '', 5)`;
  await older.sql`insert into service.stop (scope, subject, reason) values ('global', '', 'test')`;
  await older.sql`insert into service.api_key (key_hash, wallet, tier) values ('x', ${wallet}, 'free')`;
  await migrateService(databaseUrl);
  fresh = connect(await freshDatabase(), { name: "test" });
  atEnd(() => fresh.close());
});

test("it has the tables, functions, triggers and rights of a new one", async () => {
  expect(await contentOf(older.sql)).toEqual(await contentOf(fresh.sql));
});

test("its rows count as before", async () => {
  await buyFor(older.sql, 9);
  expect(await premiums(older.sql)).toEqual([{ premium: "7" }, { premium: "9" }]);
  const [row] = await older.sql`
    select (select sum(wei)::text from service.gas_day where wallet = '') as wei,
      (select set_by from service.stop) as set_by, (select limited from service.api_key) as limited`;
  expect(row).toEqual({ wei: "5", set_by: "command line", limited: false });
});
