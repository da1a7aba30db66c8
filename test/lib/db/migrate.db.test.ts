/** What this proves: an update during a backup neither waits with the whole ledger behind it, nor leaves half of itself. */
import { beforeAll, expect, test } from "vitest";
import { type Connection, connect } from "../../../lib/db/connect.ts";
import { appliedMigration, migrateService, newestMigration } from "../../../lib/db/migrate.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase, mayRest } from "../../support/database.ts";

/** The migration that adds a column to `service.event`, as the journal numbers it. */
const TRACES = 1_795_470_000_018;

let databaseUrl: string;
let connection: Connection;
beforeAll(async () => {
  databaseUrl = await freshDatabase();
  connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
});

test("a migration gives up when a backup holds a table, changes nothing, and succeeds after the backup", async () => {
  const { sql } = connection;
  await sql`alter table service.event drop column traceparent`;
  await sql`drop table service.purchase_trace`;
  await sql`delete from service.migration where created_at >= ${TRACES}`;
  const before = await appliedMigration(sql);

  await sql.begin(async (backup) => {
    await mayRest(backup);
    await backup`lock table service.event in access share mode`;
    await expect(migrateService(databaseUrl)).rejects.toThrow(/lock timeout/);
    expect(await appliedMigration(sql)).toBe(before);
    // Nobody waits behind the migration any more.
    expect(await sql`select count(*)::int as events from service.event`).toEqual([{ events: 0 }]);
  });

  await migrateService(databaseUrl);
  expect(await appliedMigration(sql)).toBe(newestMigration());
});
