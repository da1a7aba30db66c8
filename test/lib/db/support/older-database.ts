/** Databases as older versions of the code left them. */
import { cpSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { drizzle } from "drizzle-orm/postgres-js";
import { migrate } from "drizzle-orm/postgres-js/migrator";
import { inject } from "vitest";
import { z } from "zod";
import { type Connection, connect } from "../../../../lib/db/connect.ts";
import { projectRoot } from "../../../../lib/project-root.ts";
import { atEnd } from "../../../support/cleanup.ts";
import { freshDatabase } from "../../../support/database.ts";

const journal = z.object({ entries: z.array(z.looseObject({ tag: z.string() })) }).loose();

/**
 * A new database with the migrations up to this one.
 * @param edit changes the migrations' files, which are copies in the folder, before they run
 */
export async function databaseUpTo(
  newest: string,
  edit: (folder: string) => void = () => {},
): Promise<{ databaseUrl: string; connection: Connection }> {
  const folder = mkdtempSync(join(inject("runFolder"), "migrations-"));
  cpSync(join(projectRoot, "lib", "db", "migrations"), folder, { recursive: true });
  edit(folder);
  const file = join(folder, "meta", "_journal.json");
  const { entries, ...rest } = journal.parse(JSON.parse(readFileSync(file, "utf8")));
  const older = entries.slice(0, entries.findIndex(({ tag }) => tag === newest) + 1);
  writeFileSync(file, JSON.stringify({ ...rest, entries: older }));

  const databaseUrl = await freshDatabase({ empty: true });
  const connection = connect(databaseUrl, { name: "test" });
  atEnd(() => connection.close());
  const options = { migrationsSchema: "service", migrationsTable: "migration" };
  await migrate(drizzle(connection.sql), { migrationsFolder: folder, ...options });
  return { databaseUrl, connection };
}
