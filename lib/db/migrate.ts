import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { ISql, Sql, TransactionSql } from "postgres";
import { ConfigError } from "../config-error.ts";
import { errorText } from "../log.ts";
import { projectRoot } from "../project-root.ts";
import { ensureApiRole } from "./api-role.ts";
import { connect } from "./connect.ts";
import { defineFunctions } from "./functions.ts";
import { grantService, MIGRATION_LOCK } from "./grants.ts";
import { prepareOwnerLogin } from "./login-settings.ts";
import { sqlState } from "./sql-state.ts";

/**
 * Longest wait for a lock on a table, in ms. Every later statement on the table waits behind it, and a wallet's lease ends after eight
 * seconds: an update that meets a long reader, such as a backup, is given up and tried again by its caller.
 */
const LOCK_MS = 2000;

/** A function or a view that `create or replace` cannot change: invalid_function_definition, invalid_table_definition. */
const IRREPLACEABLE = ["42P13", "42P16"];

/** Tables that are not as an earlier version left them, or a login without their rights. Another attempt meets them again. */
const HOPELESS = /^(0A|22|23|2B|42)/;

const migrationsFolder = join(projectRoot, "lib", "db", "migrations");

/** The migrations of this version of the code in their order. A file's name begins with its number. */
const migrations = () =>
  readdirSync(migrationsFolder)
    .map((name) => ({ number: Number.parseInt(name, 10), file: join(migrationsFolder, name) }))
    .sort((a, b) => a.number - b.number);

/** The newest migration of this version of the code. */
export const newestMigration = (): number => migrations().at(-1)?.number ?? 0;

/** The newest migration that the database has; rejects while it has no schema `service`. */
export async function appliedMigration(sql: ISql): Promise<number> {
  const [row] = await sql<{ newest: number | null }[]>`select max(number) as newest from service.migration`;
  return row?.newest ?? 0;
}

/** Brings tables, functions and grants up to date. A process of an older version leaves those that came with a newer migration. */
async function update(tx: TransactionSql, options: { anew: boolean }): Promise<void> {
  await tx`create schema if not exists service`;
  await tx`
    create table if not exists service.migration (
      number integer primary key, applied_at timestamptz not null default now())`;
  const applied = await appliedMigration(tx);
  for (const { number, file } of migrations()) {
    if (number <= applied) continue;
    await tx.file(file);
    await tx`insert into service.migration (number) values (${number})`;
  }
  if (applied > newestMigration()) return;
  await defineFunctions(tx, options);
  await grantService(tx);
}

/** Why an update failed: a `ConfigError` where it will fail again, as with the tables of a version that had other migrations. */
const updateFault = (error: unknown): unknown =>
  HOPELESS.test(sqlState(error))
    ? new ConfigError([
        `the schema "service" of DATABASE_URL cannot be brought up to date: ${errorText(error)}. Grant the login what it lacks; where the tables are those of a version before 28 November 2026, or of another program, give the service a new database`,
      ])
    : error;

/**
 * Brings the `service` schema up to date in one transaction: new migrations, then functions, triggers and views, then what
 * `grants.sql` lets the api's role do. Writer and indexer call it at their start: an advisory lock lets one run at a time.
 * @throws ConfigError when the api's role is missing and the login may not create it, or the tables are not those of an earlier version.
 *   Rejects, with nothing changed, when a table stays locked for two seconds
 */
export async function migrateService(databaseUrl: string): Promise<void> {
  await prepareOwnerLogin(databaseUrl);
  const { sql, close } = connect(databaseUrl, { name: "migrate", max: 1, statementTimeout: 0 });
  try {
    await sql`select set_config('statement_timeout', '0', false)`;
    await sql`select pg_advisory_lock(hashtextextended(${MIGRATION_LOCK}, 0))`;
    await sql`select set_config('lock_timeout', ${String(LOCK_MS)}, false)`;
    await ensureApiRole(sql);
    await sql
      .begin((tx) => update(tx, { anew: false }))
      .catch((error: unknown) => {
        if (!IRREPLACEABLE.includes(sqlState(error))) throw error;
        return sql.begin((tx) => update(tx, { anew: true }));
      })
      .catch((error: unknown) => {
        throw updateFault(error);
      });
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
