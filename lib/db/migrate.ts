import { join } from "node:path";
import { readMigrationFiles } from "drizzle-orm/migrator";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import type { ISql, Sql } from "postgres";
import { projectRoot } from "../project-root.ts";
import { ensureApiRole } from "./api-role.ts";
import { connect } from "./connect.ts";
import { grantService, MIGRATION_LOCK } from "./grants.ts";

/**
 * Longest wait for a lock on a table, in ms. Every later statement on the table waits behind it, and a wallet's lease ends after eight
 * seconds: a migration that meets a long reader, such as a backup, is given up and tried again by its caller.
 */
const LOCK_MS = 2000;

const migrationsFolder = join(projectRoot, "lib", "db", "migrations");

/** The newest migration of this version of the code, as the journal numbers it. */
export const newestMigration = (): number =>
  Math.max(...readMigrationFiles({ migrationsFolder }).map((file) => file.folderMillis));

/** The newest migration that the database has; rejects while it has no schema `service`. */
export async function appliedMigration(sql: ISql): Promise<number> {
  const [row] = await sql<
    { newest: string | null }[]
  >`select max(created_at)::text as newest from service.migration`;
  return Number(row?.newest ?? 0);
}

/**
 * Brings the `service` schema up to date with the files that `migrations/meta/_journal.json` lists, and grants the api's role
 * what `grants.sql` says. Writer and indexer call it at their start: an advisory lock lets one run at a time. A process of an
 * older version leaves the grants of a newer one in place.
 * @throws ConfigError when the api's role is missing and the login may not create it. Rejects, with nothing changed, when a table
 *   stays locked for two seconds
 */
export async function migrateService(databaseUrl: string): Promise<void> {
  const { sql, close } = connect(databaseUrl, { name: "migrate", max: 1, statementTimeout: 0 });
  try {
    await sql`select pg_advisory_lock(hashtextextended(${MIGRATION_LOCK}, 0))`;
    await sql`select set_config('lock_timeout', ${String(LOCK_MS)}, false)`;
    await ensureApiRole(sql);
    await migrate(drizzle(sql), {
      migrationsFolder,
      migrationsSchema: "service",
      migrationsTable: "migration",
    });
    if ((await appliedMigration(sql)) <= newestMigration()) await grantService(sql);
  } finally {
    await close();
  }
}

/** For the api, which does not migrate. @throws until a writer or an indexer of this version, or a newer one, has migrated */
export async function requireMigrated(sql: Sql): Promise<void> {
  if ((await appliedMigration(sql)) < newestMigration()) {
    throw new Error("neither the writer nor the indexer has migrated the database to this version");
  }
}
