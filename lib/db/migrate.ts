import { join } from "node:path";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import { projectRoot } from "../project-root.ts";
import { connect } from "./connect.ts";

const migrationsFolder = join(projectRoot, "lib", "db", "migrations");

/**
 * Brings the `service` schema up to date. Any process may call it at its start: an advisory lock lets one at a time
 * through, and the others find nothing left to do.
 */
export async function migrateService(databaseUrl: string): Promise<void> {
  const connection = connect(databaseUrl, { name: "migrate", max: 1, statementTimeout: 0 });
  try {
    await connection.sql`select pg_advisory_lock(hashtextextended('service:migrate', 0))`;
    await migrate(connection.db, {
      migrationsFolder,
      migrationsSchema: "service",
      migrationsTable: "migration",
    });
  } finally {
    await connection.close();
  }
}
