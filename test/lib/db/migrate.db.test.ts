/** What this proves: an update during a backup neither waits with the whole ledger behind it, nor leaves half of itself. */
import { expect, test } from "vitest";
import { appliedMigration, migrateService, newestMigration } from "../../../lib/db/migrate.ts";
import { mayRest } from "../../support/database.ts";
import { databaseUpTo } from "./support/older-database.ts";

test("a migration gives up when a backup holds a table, changes nothing, and succeeds after the backup", async () => {
  // The next migration changes service.event.
  const { databaseUrl, connection } = await databaseUpTo("0017_operator");
  const { sql } = connection;
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
