import { join } from "node:path";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import { projectRoot } from "../project-root.ts";
import { connect } from "./connect.ts";

const migrationsFolder = join(projectRoot, "lib", "db", "migrations");

/**
 * Brings the `service` schema up to date with the files that `migrations/meta/_journal.json` lists. Any process may call it
 * at its start: an advisory lock lets one run at a time, and the others then find nothing to do.
 */
export async function migrateService(databaseUrl: string): Promise<void> {
  const connection = connect(databaseUrl, { name: "migrate", max: 1, statementTimeout: 0 });
  try {
    await connection.sql`select pg_advisory_lock(hashtextextended('service:migrate', 0))`;
    await migrate(drizzle(connection.sql), {
      migrationsFolder,
      migrationsSchema: "service",
      migrationsTable: "migration",
    });
  } finally {
    await connection.close();
  }
}
