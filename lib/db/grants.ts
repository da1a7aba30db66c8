/** What the api's role may do: in the schema `service` as `grants.sql` says, and in the schemas of BullMQ and Ponder. */
import { join } from "node:path";
import type { ISql, Sql } from "postgres";
import { projectRoot } from "../project-root.ts";
import { API_ROLE } from "./api-role.ts";

/** Two statements that grant on one table at once fail: migrations and grants of a database hold this advisory lock. */
export const MIGRATION_LOCK = "service:migrate";

/** Grants what `grants.sql` says, and revokes everything else. The caller holds {@link MIGRATION_LOCK}. */
export const grantService = async (sql: ISql): Promise<void> => {
  await sql.file(join(projectRoot, "lib", "db", "grants.sql"));
};

type Privileges = { readonly tables: string; readonly sequences?: string };

/**
 * Grants privileges on all that a schema holds, and on all that this login will create in it: the schema's package makes its
 * tables and views itself, and makes them anew.
 */
async function grantInSchema(sql: Sql, name: string, privileges: Privileges): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${MIGRATION_LOCK}, 0))`;
    const [schema, role] = [tx(name), tx(API_ROLE)];
    await tx`create schema if not exists ${schema}`;
    await tx`grant usage on schema ${schema} to ${role}`;
    for (const [kind, privilege] of Object.entries(privileges)) {
      const [what, kinds] = [tx.unsafe(privilege), tx.unsafe(kind)];
      await tx`grant ${what} on all ${kinds} in schema ${schema} to ${role}`;
      await tx`alter default privileges in schema ${schema} grant ${what} on ${kinds} to ${role}`;
    }
  });
}

/** The api adds jobs. Everybody may call BullMQ's functions: they run with the rights of their caller. */
export const grantQueue = (sql: Sql, schema: string): Promise<void> =>
  grantInSchema(sql, schema, { tables: "select, insert, update, delete", sequences: "usage" });

/** The api reads the index through Ponder's views, which are made anew with each build. Their owner reads the tables. */
export const grantViews = (sql: Sql, schema: string): Promise<void> =>
  grantInSchema(sql, schema, { tables: "select" });
