import type { Sql } from "postgres";

/** What a connection leads to. */
export type DatabaseCopy = {
  /** The same on a primary and on each server that began as a copy of its files, as standbys and clones do; on no other database. */
  readonly database: string;
  /** False on a primary, and on a standby that was promoted. */
  readonly isStandby: boolean;
};

/** Tells a database from any other, and its primary from its standbys. */
export async function readDatabaseCopy(sql: Sql): Promise<DatabaseCopy> {
  const [copy] = await sql<DatabaseCopy[]>`
    select (select system_identifier from pg_control_system()) || '/' || oid as database,
      pg_is_in_recovery() as "isStandby"
    from pg_database where datname = current_database()`;
  if (!copy) throw new Error("Postgres did not tell its identity");
  return copy;
}
