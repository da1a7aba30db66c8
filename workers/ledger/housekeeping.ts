import type { Sql } from "postgres";

/** Purchases of one batch, mined and refused ones each: one transaction of the database moves them. */
const BATCH = 200;

/**
 * Archives a batch of a chain's purchases that have been final for this many days. They answer as before. Any number of
 * writers may do so at once.
 * @returns how many were archived.
 */
export async function archivePurchases(sql: Sql, chainId: number, days: number): Promise<number> {
  const [row] = await sql<{ archived: number }[]>`
    select service.archive_purchases(${chainId}, now() - make_interval(days => ${days}), ${BATCH}) as archived`;
  return row?.archived ?? 0;
}

/** As long as Postgres waits for the next statement of an idle transaction (`lib/db/login-settings.ts`), in seconds. */
const SILENT_SECONDS = 5;

/**
 * Ends sessions of writers that hold a transaction open and send nothing, so that their locks do not block this writer.
 *
 * postgres.js asks the server to describe a statement before it runs it for the first time. A writer that is suspended or
 * cut off between the two leaves its session `active`, waiting for the client. Neither `statement_timeout` nor
 * `idle_in_transaction_session_timeout` ends such a session; only Postgres 17 and later have a timeout that does.
 *
 * @param seconds how long a session must have been silent.
 * @returns the number of ended sessions.
 */
export async function endSilentSessions(sql: Sql, seconds = SILENT_SECONDS): Promise<number> {
  const ended = await sql`
    select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and usename = current_user and pid <> pg_backend_pid()
      and application_name ~ '^(writer|outbox|webhooks)' and wait_event = 'ClientRead' and xact_start is not null
      and state_change <= now() - make_interval(secs => ${seconds})`;
  return ended.length;
}
