/** What this proves: an update of the database leaves all of itself or nothing, whatever functions another version left there. */
import type { Sql } from "postgres";
import { beforeAll, expect, test } from "vitest";
import { ConfigError } from "../../../lib/config-error.ts";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { migrateService, newestMigration } from "../../../lib/db/migrate.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase, mayRest } from "../../support/database.ts";

/** All functions, triggers and views of schema `service`, in an order that does not depend on when they were made. */
const definitions = async (sql: Sql) => ({
  functions: await sql`
    select oid::regprocedure::text, pg_get_functiondef(oid), proacl::text from pg_proc
    where pronamespace = 'service'::regnamespace order by 1`,
  triggers: await sql`
    select tgrelid::regclass::text, tgname, pg_get_triggerdef(oid) from pg_trigger
    where not tgisinternal and tgrelid in (select oid from pg_class where relnamespace = 'service'::regnamespace) order by 1, 2`,
  views: await sql`
    select relname, pg_get_viewdef(oid), relacl::text from pg_class
    where relkind = 'v' and relnamespace = 'service'::regnamespace order by 1`,
});

const resultOf = async (sql: Sql) =>
  (await sql`select pg_get_function_result('service.premium_of_day(bigint)'::regprocedure) as type`)[0]?.type;

let databaseUrl: string;
let connection: Connection;
let defined: Awaited<ReturnType<typeof definitions>>;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  defined = await definitions(connection.sql);
});

/** Makes functions, a trigger and a view what another version of the service might have left. */
const leaveOthers = (sql: Sql) =>
  sql.unsafe(`
    delete from service.applied_functions;
    drop function service.premium_of_day;
    create function service.premium_of_day(of_key bigint) returns text language sql return 'another result';
    create function service.gas_of(another_overload integer) returns integer language sql return 1;
    create function service.removed() returns trigger language plpgsql as 'begin return null; end';
    create trigger removed after insert on service.purchase execute function service.removed();
    drop trigger purchase_waits on service.purchase;
    drop view service.purchase_progress;
    create view service.purchase_progress as select id as another_column from service.purchase`);

test("functions, triggers and views of another version become those of this one", async () => {
  await leaveOthers(connection.sql);
  await migrateService(databaseUrl);
  expect(await definitions(connection.sql)).toEqual(defined);
});

test("a process of an older version leaves the functions of a newer one in place", async () => {
  const { sql } = connection;
  await leaveOthers(sql);
  await sql`insert into service.migration (number) values (${newestMigration() + 1})`;
  await migrateService(databaseUrl);
  expect(await resultOf(sql)).toBe("text");

  await sql`delete from service.migration where number > ${newestMigration()}`;
  await migrateService(databaseUrl);
  expect(await definitions(sql)).toEqual(defined);
});

test("an update gives up when a table stays locked, changes nothing, and succeeds afterwards", async () => {
  const { sql } = connection;
  await leaveOthers(sql);
  await sql.begin(async (holder) => {
    await mayRest(holder);
    await holder`lock table service.purchase in access share mode`;
    await expect(migrateService(databaseUrl)).rejects.toThrow(/lock timeout/);
    expect(await resultOf(sql)).toBe("text");
    // Nobody waits behind the update any more.
    expect(await sql`select count(*)::int as purchases from service.purchase`).toEqual([{ purchases: 0 }]);
  });
  await migrateService(databaseUrl);
  expect(await definitions(sql)).toEqual(defined);
});

test("a function whose text alone has changed is replaced during a backup", async () => {
  const { sql } = connection;
  await sql`delete from service.applied_functions`;
  await sql`create or replace function service.lock_key(of_key bigint) returns void language sql as ''`;
  await sql.begin(async (backup) => {
    await mayRest(backup);
    await backup`lock table service.purchase, service.transaction in access share mode`;
    await migrateService(databaseUrl);
  });
  expect(await definitions(sql)).toEqual(defined);
});

test("tables of another line of migrations are named at once, and stay as they are", async () => {
  const url = await freshDatabase();
  const { sql, close } = connect(url, { name: "test" });
  // As versions before 28 November 2026 kept them.
  await sql`alter table service.migration rename column number to created_at`;
  await expect(migrateService(url)).rejects.toThrow(ConfigError);
  await expect(migrateService(url)).rejects.toThrow(/"service" of DATABASE_URL.*number.*new database/);
  expect(await sql`select count(*)::int as rows from service.migration`).toEqual([
    { rows: newestMigration() },
  ]);
  await close();
});
