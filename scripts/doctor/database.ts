/** Checks Postgres: its settings, what the login may do, and whether it has sessions enough. */
import type { Sql } from "postgres";
import { connect } from "../../lib/db/connect.ts";
import {
  isPooledByTransaction,
  OLD_SESSIONS,
  readSettings,
  TRANSACTION_MODE,
  USE_SESSIONS,
} from "../../lib/db/login-settings.ts";
import { errorText } from "../../lib/log.ts";
import { examineDatabaseClock } from "./clock.ts";
import { type Finding, findingsOf, isFault } from "./finding.ts";
import { examineRights } from "./login-rights.ts";
import { examineStoredSecrets, isThisMachine } from "./secrets.ts";
import { sessionsOf } from "./sessions.ts";
import type { ProcessName, Settings } from "./settings.ts";

const { ok, warning, fault } = findingsOf("Postgres");

const OLDEST_VERSION = 140_000;
/** How long a statement of the doctor may take, in ms. */
const STATEMENT_MS = 5000;

/** A database, and the processes that log in to it with this URL. */
export type NamedDatabase = {
  readonly url: string;
  readonly processes: readonly ProcessName[];
  readonly settings: Settings;
  /** Whether all chains are local, so that one login for everything is nobody's danger. */
  readonly local: boolean;
};

type Server = {
  version: number;
  versionText: string;
  standby: boolean;
  readOnly: string;
  encoding: string;
  fsync: string;
  fullPageWrites: string;
  synchronousCommit: string;
  autovacuum: string;
  encrypted: boolean;
};

async function examineServer(sql: Sql, url: string): Promise<Finding[]> {
  const [server] = await sql<Server[]>`
    select current_setting('server_version_num')::int as version, current_setting('server_version') as "versionText",
      pg_is_in_recovery() as standby, current_setting('default_transaction_read_only') as "readOnly",
      current_setting('server_encoding') as encoding, current_setting('fsync') as fsync,
      current_setting('full_page_writes') as "fullPageWrites",
      current_setting('synchronous_commit') as "synchronousCommit", current_setting('autovacuum') as autovacuum,
      coalesce((select ssl from pg_stat_ssl where pid = pg_backend_pid()), false) as encrypted`;
  if (!server) throw new Error("Postgres did not tell its settings");
  const findings: Finding[] = [];
  const inConfig = (setting: string) => `set \`${setting}\` in postgresql.conf, and reload Postgres`;
  if (server.version < OLDEST_VERSION)
    findings.push(fault(`Postgres ${server.versionText} is too old`, "install Postgres 14 or newer"));
  if (server.standby) {
    findings.push(
      fault(
        "DATABASE_URL leads to a standby, which takes no writes",
        "set the URL of its primary, or promote it",
      ),
    );
  } else if (server.readOnly === "on")
    findings.push(
      fault(
        "the login may only read (default_transaction_read_only)",
        "set it to off for login and database",
      ),
    );
  if (server.encoding !== "UTF8") {
    const remedy = "create a database with ENCODING 'UTF8'";
    findings.push(fault(`the database's encoding is ${server.encoding}`, remedy));
  }
  if (server.fsync === "off")
    findings.push(fault("fsync is off: a crash of the machine damages the ledger", inConfig("fsync = on")));
  if (server.fullPageWrites === "off")
    findings.push(
      fault(
        "full_page_writes is off: a crash of the machine damages the ledger",
        inConfig("full_page_writes = on"),
      ),
    );
  if (server.synchronousCommit === "off")
    findings.push(
      fault(
        "synchronous_commit is off: a crash of Postgres loses the last purchases",
        inConfig("synchronous_commit = on"),
      ),
    );
  if (server.autovacuum === "off")
    findings.push(fault("autovacuum is off: tables grow without end", inConfig("autovacuum = on")));
  if (!server.encrypted && !isThisMachine(new URL(url).hostname))
    findings.push(
      warning(
        "the connection to Postgres is not encrypted",
        "add sslmode=require to DATABASE_URL, or use a network that nobody else is in",
      ),
    );
  return findings.length > 0 ? findings : [ok(`Postgres ${server.versionText} loses no commit`)];
}

/** Checks what `lib/db/login-settings.ts` gives the login. */
async function examineSettings(sql: Sql, { url }: NamedDatabase): Promise<Finding[]> {
  if (await isPooledByTransaction(url)) return [fault(TRANSACTION_MODE, USE_SESSIONS)];
  const { others, stored } = await readSettings(sql);
  if (others.length === 0) return [];
  const text = `in sessions of DATABASE_URL ${others.join(", ")}`;
  return stored ? [fault(text, OLD_SESSIONS)] : [warning(text, "start the processes: they set their login")];
}

type Room = { limit: number; present: number; ofLogin: number; ofDatabase: number };

async function examineSessions(sql: Sql, { processes, settings }: NamedDatabase): Promise<Finding[]> {
  const needed = processes.reduce((sum, name) => sum + sessionsOf(name, settings), 0);
  const [room] = await sql<Room[]>`
    select current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
        - coalesce(current_setting('reserved_connections', true), '0')::int as limit,
      (select sum(numbackends)::int - 1 from pg_stat_database) as present,
      (select rolconnlimit from pg_roles where rolname = session_user) as "ofLogin",
      (select datconnlimit from pg_database where datname = current_database()) as "ofDatabase"`;
  if (!room) throw new Error("Postgres did not tell its limits");
  const names = processes.join(", ");
  const limits = [
    {
      text: "the server",
      most: room.limit,
      remedy: "raise max_connections in postgresql.conf, and restart Postgres",
    },
    { text: "the login", most: room.ofLogin, remedy: "ALTER ROLE … CONNECTION LIMIT -1" },
    { text: "the database", most: room.ofDatabase, remedy: "ALTER DATABASE … CONNECTION LIMIT -1" },
  ];
  const faults = limits
    .filter(({ most }) => most >= 0 && most < needed)
    .map(({ text, most, remedy }) =>
      fault(`${names} open ${needed} sessions at most, and ${text} allows ${most}`, remedy),
    );
  if (faults.length > 0) return faults;
  if (room.present + needed > room.limit) {
    const text = `${names} open ${needed} sessions at most; ${room.present} of ${room.limit} are taken at present`;
    return [warning(text, "raise max_connections in postgresql.conf, unless the others end")];
  }
  return [ok(`${names} open ${needed} sessions at most; ${room.limit - room.present} are free`)];
}

/** How far Postgres' clock is ahead of this machine's, in seconds, without the half of the time that the answer took. */
async function clockOffset(sql: Sql): Promise<number> {
  const begun = Date.now();
  const [row] = await sql<{ now: number }[]>`select extract(epoch from clock_timestamp())::float8 as now`;
  const ended = Date.now();
  if (!row) throw new Error("Postgres did not tell its time");
  const offset = row.now - (begun + ended) / 2000;
  const uncertain = (ended - begun) / 2000;
  return Math.sign(offset) * Math.max(0, Math.abs(offset) - uncertain);
}

/** Checks a database with the URL of these processes. Never rejects. */
export async function examineDatabase(database: NamedDatabase): Promise<Finding[]> {
  const { url, settings } = database;
  const { sql, close } = connect(url, { name: "doctor", max: 1, statementTimeout: STATEMENT_MS });
  try {
    const server = await examineServer(sql, url);
    const rights = await examineRights(sql, database);
    const session = await examineSettings(sql, database);
    const sessions = await examineSessions(sql, database);
    const clock = examineDatabaseClock(await clockOffset(sql));
    // Only the owner may read the table. The api's own login may not, before it takes on its role.
    const writer = rights.some(isFault) ? undefined : settings.writer;
    const secrets =
      writer && database.processes.includes("writer") ? await examineStoredSecrets(sql, writer) : [];
    return [...server, ...rights, ...session, ...sessions, clock, ...secrets];
  } catch (error) {
    const remedy = "start Postgres, or correct DATABASE_URL: server, login, password and database";
    return [
      fault(`Postgres cannot be used by ${database.processes.join(", ")}: ${errorText(error)}`, remedy),
    ];
  } finally {
    await close();
  }
}
