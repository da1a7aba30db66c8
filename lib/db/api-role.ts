import type { Sql } from "postgres";
import { ConfigError } from "../config-error.ts";
import { sqlState } from "./sql-state.ts";

/**
 * The Postgres role that every connection of the api takes on: a login of its own by the login's settings, that of the owner by
 * its URL. `grants.sql` says what the role may do. It belongs to the server, and all of the server's databases share it.
 */
export const API_ROLE = "cover_api";

/** With this parameter of its URL a session of the owner's login takes on the api's role: one login then serves all processes. */
export function asApi(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.searchParams.set("options", `-c role=${API_ROLE}`);
  return url.href;
}

const INSUFFICIENT_PRIVILEGE = "42501";

/**
 * Creates the role where it is missing. The login that creates it may take it on, so that one login suffices for all
 * processes: since Postgres 16 a role's creator who is no superuser may not do so by itself.
 * @throws ConfigError with the statement to run when the login may not create roles
 */
export async function ensureApiRole(sql: Sql): Promise<void> {
  const present = await sql`select 1 from pg_roles where rolname = ${API_ROLE}`;
  if (present.length > 0) return;
  try {
    // Another database's migration may create it at the same time: the lock of a migration covers one database.
    await sql.unsafe(`
      do $$ begin
        create role ${API_ROLE} nologin;
        grant ${API_ROLE} to current_user;
      exception when duplicate_object or unique_violation then
      end $$`);
  } catch (error) {
    if (sqlState(error) !== INSUFFICIENT_PRIVILEGE) throw error;
    throw new ConfigError([
      `the login of DATABASE_URL may not create the role ${API_ROLE}; run as a superuser: create role ${API_ROLE} nologin`,
    ]);
  }
}
