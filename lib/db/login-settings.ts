/**
 * The settings of the service's sessions. They belong to the logins, in this database: a pooler such as PgBouncer refuses most
 * parameters at the start of a session, and Ponder and BullMQ open sessions of their own.
 */
import type { ISql, Sql } from "postgres";
import { ConfigError } from "../config-error.ts";
import { errorText } from "../log.ts";
import { API_ROLE, asApi } from "./api-role.ts";
import { connect } from "./connect.ts";
import { sqlState } from "./sql-state.ts";

type LoginSettings = Readonly<Record<string, string>>;

/** Settings of every login. Without them a session reads dates wrongly, or waits without a limit. */
const OWNER: LoginSettings = {
  DateStyle: "ISO, MDY",
  TimeZone: "UTC",
  search_path: "pg_catalog",
  standard_conforming_strings: "on",
  plan_cache_mode: "auto",
  statement_timeout: "10s",
  lock_timeout: "0",
  // A process that is suspended within a transaction holds its locks no longer than this.
  idle_in_transaction_session_timeout: "5s",
  // With these the server's system finds a client that vanished, and so frees its locks.
  tcp_keepalives_idle: "5",
  tcp_keepalives_interval: "2",
  tcp_keepalives_count: "3",
  tcp_user_timeout: "10000",
};
/** Of a login that the api has for itself. */
const API: LoginSettings = { ...OWNER, role: API_ROLE, statement_timeout: "4s" };
/** How many sessions that are older than the settings may be found in a pooler. */
const POOLED_SESSIONS = 10;

/** Runs `act` in a session of its own: a session keeps the settings with which it began. */
async function inSession<T>(databaseUrl: string, act: (sql: Sql) => Promise<T>): Promise<T> {
  const { sql, close } = connect(databaseUrl, { name: "login-settings", max: 1 });
  return act(sql).finally(close);
}

type Session = {
  login: string;
  role: string;
  database: string;
  /** Whether the login may migrate, as that of writer and indexer. */
  migrates: boolean;
  /** Whether the login may take on the api's role; null while that is missing. */
  inApiRole: boolean | null;
};

async function readSession(sql: ISql): Promise<Session> {
  const [session] = await sql<Session[]>`
    select session_user as login, current_user as role, current_database() as database,
      has_database_privilege(session_user, current_database(), 'CREATE') as migrates,
      (select pg_has_role(session_user, oid, 'MEMBER') from pg_roles where rolname = ${API_ROLE}) as "inApiRole"`;
  if (!session) throw new Error("Postgres did not tell its session");
  return session;
}

/** Lines such as `TimeZone is "Asia/Kolkata" instead of "UTC"`. Without TCP a session shows 0 for its settings. */
async function differences(sql: ISql, wanted: LoginSettings): Promise<string[]> {
  const rows = await sql<{ name: string; wanted: string; present: string }[]>`
    select key as name, value as wanted, current_setting(key) as present
    from json_each_text(${JSON.stringify(wanted)}::text::json) where key not like 'tcp%'`;
  return rows
    .filter((row) => row.present.replace(/^Etc\//, "") !== row.wanted)
    .map((row) => `${row.name} is "${row.present}" instead of "${row.wanted}"`);
}

/** Whether the login has these settings in this database. */
async function areStored(sql: ISql, wanted: LoginSettings): Promise<boolean> {
  const lines = JSON.stringify(Object.entries(wanted).map(([name, value]) => `${name}=${value}`));
  const [found] = await sql`
    select from pg_db_role_setting s
    join pg_roles r on r.oid = s.setrole join pg_database d on d.oid = s.setdatabase
    where rolname = session_user and datname = current_database()
      and setconfig @> array(select json_array_elements_text(${lines}::text::json))`;
  return found !== undefined;
}

/**
 * Stores the settings of the login.
 * @throws ConfigError with the statements to run when the login may not do so itself
 */
async function store(sql: Sql, wanted: LoginSettings): Promise<void> {
  // A login may change itself, and not the role that it has taken on.
  await sql`set role none`;
  const { login, database } = await readSession(sql);
  const statements = Object.entries(wanted).map(
    ([name, value]) => `alter role "${login}" in database "${database}" set ${name} = '${value}'`,
  );
  try {
    await sql.begin(async (tx) => {
      // Two processes that set one login at once would fail.
      await tx`select pg_advisory_xact_lock(hashtextextended('service:login-settings', 0))`;
      await tx.unsafe(statements.join("; "));
    });
    // Ends sessions that began before the role was set: they may read nothing.
    if ("role" in wanted) {
      await sql`
        select pg_terminate_backend(pid) from pg_stat_activity
        where usename = session_user and datname = current_database() and pid <> pg_backend_pid()`;
    }
  } catch (error) {
    if (sqlState(error) !== "42501") throw error;
    throw new ConfigError([
      `the login ${login} may not set itself; run as a superuser: ${statements.join("; ")}`,
    ]);
  }
}

/** Gives the login its settings, and compares those of a new session. */
async function useSettings(databaseUrl: string, wanted: LoginSettings): Promise<void> {
  if (await isPooledByTransaction(databaseUrl))
    throw new ConfigError([`${TRANSACTION_MODE}: ${USE_SESSIONS}`]);
  if (!(await inSession(databaseUrl, (sql) => areStored(sql, wanted)))) {
    await inSession(databaseUrl, (sql) => store(sql, wanted));
  }
  const look = async (sql: Sql) => {
    const others = await differences(sql, wanted);
    // A pooler would keep the session.
    if (others.length > 0) await sql`select pg_terminate_backend(pg_backend_pid())`.catch(() => {});
    return others;
  };
  let others = await inSession(databaseUrl, look);
  for (let n = 1; n < POOLED_SESSIONS && others.length > 0; n += 1)
    others = await inSession(databaseUrl, look);
  if (others.length === 0) return;
  throw new ConfigError([`in sessions of DATABASE_URL ${others.join(", ")}: ${OLD_SESSIONS}`]);
}

/** Why a session lacks settings that its login has, and the remedy. */
export const OLD_SESSIONS =
  "a pooler's sessions are older than the login's settings (PgBouncer: RECONNECT in its console), or PGOPTIONS sets others";
export const TRANSACTION_MODE = "DATABASE_URL leads to a pooler in transaction mode";
export const USE_SESSIONS = "let the pooler pool by session, or name Postgres itself";

/** Whether a pooler gives each transaction another session: locks, notifications and settings would be lost. */
export const isPooledByTransaction = (databaseUrl: string): Promise<boolean> =>
  inSession(databaseUrl, (one) =>
    inSession(databaseUrl, async (other) => {
      const pidOf = async (sql: ISql) => (await sql.unsafe("select pg_backend_pid() as pid"))[0]?.pid;
      const before = await pidOf(one);
      return other.begin(async (tx) => {
        // Holds the session that the pooler got back from the first statement.
        await pidOf(tx);
        return (await pidOf(one)) !== before;
      });
    }),
  );

/**
 * Gives the login of writer and indexer its settings.
 * @throws ConfigError with the remedy when its sessions do not have them, or behind a pooler in transaction mode
 */
export const prepareOwnerLogin = (databaseUrl: string): Promise<void> => useSettings(databaseUrl, OWNER);

/**
 * The URL with which the api's sessions take on its role. A login that may migrate serves all processes: its sessions do so by a
 * parameter, and those of any other login by the login's settings. While the database is away also by the parameter, so that no
 * session of the api ever has the owner's rights.
 */
export async function apiDatabase(databaseUrl: string): Promise<string> {
  const session = await inSession(databaseUrl, readSession).catch(() => undefined);
  return session && (!session.migrates || session.role === API_ROLE) ? databaseUrl : asApi(databaseUrl);
}

/**
 * As {@link prepareOwnerLogin}, for the api's login and the URL of {@link apiDatabase}. One that serves all processes is set by
 * writer and indexer: rejects until then.
 * @throws ConfigError also for sessions with the owner's rights
 */
export async function prepareApiLogin(databaseUrl: string): Promise<void> {
  const { login, role, migrates, inApiRole } = await inSession(databaseUrl, readSession).catch((error) => {
    if (sqlState(error) !== "08P01") throw error;
    throw new ConfigError([`behind a pooler the api needs a login of its own: ${errorText(error)}`]);
  });
  if (!migrates && inApiRole) return useSettings(databaseUrl, API);
  if (!migrates && inApiRole === null) throw new Error(`nobody has created the role ${API_ROLE}`);
  if (!migrates) throw new ConfigError([`run as a superuser: grant ${API_ROLE} to "${login}"`]);
  if (role !== API_ROLE) {
    const text = `the api's sessions have all rights of ${login}: start it again while Postgres is there`;
    throw new ConfigError([text]);
  }
  const others = await inSession(databaseUrl, (sql) => differences(sql, OWNER));
  if (others.length === 0) return;
  throw new Error(`neither writer nor indexer has set the login: ${others.join(", ")}`);
}

/** For the doctor: what differs in this session from what its login needs, and whether the login has been set. */
export async function readSettings(sql: Sql): Promise<{ others: string[]; stored: boolean }> {
  const wanted = (await readSession(sql)).migrates ? OWNER : API;
  const stored = await areStored(sql, wanted);
  const [service] = await sql`select from pg_namespace where nspname = 'service'`;
  // Before the first start there is nothing to compare.
  return { others: stored || service ? await differences(sql, wanted) : [], stored };
}
