/** The Postgres that comes from npm, started with `pg_ctl` in a session of its own. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import postgres from "postgres";
import { commandLine, isRunning, signalPid, waitUntilGone } from "./pids.ts";
import { type PostgresRunner, postgresRunner } from "./postgres-binaries.ts";
import { tail } from "./processes.ts";

export type PostgresOptions = {
  /** Made and initialised when it is not there. */
  readonly dataDir: string;
  readonly port: number;
  /** The server's log is appended here, or beside the data where that had to move; see `logFile` of the result. */
  readonly logFile: string;
  /** More lines for the server's configuration, over the ones that stand here. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
};

export type LocalPostgres = {
  /** Of the database `postgres`, as the superuser. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly logFile: string;
  /** Ends all sessions and the server. */
  readonly stop: () => Promise<void>;
  /** Stops the server and deletes its data. */
  readonly remove: () => Promise<void>;
};

/** Ponder takes up to 30 sessions, BullMQ two a queue, and tests run several stacks on one server. */
const maxConnections = 300;
/** A server that was killed leaves shared memory that is released only once its last session is gone. */
const startAttemptsMs = 15_000;
/** Sessions get so long to end; then the server is stopped as a crash would, which loses nothing either. */
const fastStopMs = 8_000;
const settingsFile = "stack.conf";

const configLine = ([name, value]: [string, string | number | boolean]) => `${name} = '${value}'`;

/** The id of the server that runs on this folder, from its lock file, or undefined when none does. */
function runningServer(folder: string): number | undefined {
  const file = join(folder, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  // After a crash the id may belong to any other process by now.
  const ours = Number.isInteger(pid) && isRunning(pid) && commandLine(pid)?.includes(folder);
  return ours ? pid : undefined;
}

async function stopServer(folder: string): Promise<void> {
  const pid = runningServer(folder);
  if (pid !== undefined) {
    // SIGINT: end the sessions, then the server. SIGQUIT: at once, recovering at the next start.
    signalPid(pid, "SIGINT");
    if (!(await waitUntilGone(pid, fastStopMs))) {
      signalPid(pid, "SIGQUIT");
      await waitUntilGone(pid, fastStopMs);
    }
  }
}

/** initdb writes beside the folder and the result is renamed, so that an interrupted one is never taken for a server. */
async function initialise(runner: PostgresRunner, folder: string): Promise<void> {
  if (existsSync(join(folder, "PG_VERSION"))) return;
  const unfinished = `${folder}.new`;
  for (const leftover of [folder, unfinished]) rmSync(leftover, { recursive: true, force: true });
  mkdirSync(dirname(folder), { recursive: true });
  const common = ["--no-sync", "--encoding=UTF8", "--locale=C", "--username=postgres", "--auth=trust"];
  await runner.run("initdb", [...common, "-D", unfinished]);
  const config = join(unfinished, "postgresql.conf");
  writeFileSync(config, `${readFileSync(config, "utf8")}\ninclude_if_exists = '${settingsFile}'\n`);
  renameSync(unfinished, folder);
}

async function startServer(runner: PostgresRunner, folder: string, logFile: string): Promise<void> {
  const deadline = Date.now() + startAttemptsMs;
  for (;;) {
    try {
      await runner.run("pg_ctl", ["start", "--wait", "--silent", "-D", folder, "-l", logFile]);
      return;
    } catch (error) {
      if (Date.now() > deadline) {
        throw new Error(`Postgres did not start; the end of its log:\n${tail(logFile)}`, { cause: error });
      }
      await sleep(250);
    }
  }
}

/**
 * Starts Postgres on 127.0.0.1, for whoever connects from this machine. A server that a former run left behind on the
 * same folder is stopped first. Nothing has to be stopped for the caller to end: the server outlives it.
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const { port, settings } = options;
  const runner = await postgresRunner();
  const { data: folder, log } = runner.locate({ data: options.dataDir, log: options.logFile });
  await stopServer(folder);
  await initialise(runner, folder);
  rmSync(join(folder, "postmaster.pid"), { force: true }); // nobody runs here: what is left is stale

  const configuration = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: maxConnections,
    ...settings,
  };
  const file = join(folder, settingsFile);
  writeFileSync(file, `${Object.entries(configuration).map(configLine).join("\n")}\n`);
  runner.own(file);
  mkdirSync(dirname(log), { recursive: true });
  writeFileSync(log, "", { flag: "a" });
  runner.own(log);

  await startServer(runner, folder, log);
  const pid = runningServer(folder);
  if (pid === undefined) throw new Error(`Postgres ended at once; see ${log}`);
  return {
    url: `postgres://postgres@127.0.0.1:${port}/postgres`,
    port,
    pid,
    logFile: log,
    stop: () => stopServer(folder),
    async remove() {
      await stopServer(folder);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Stops the server that runs on a data folder, as a run that was killed leaves it behind; none is no error. */
export async function stopPostgres(dataDir: string): Promise<void> {
  const runner = await postgresRunner();
  await stopServer(runner.locate({ data: dataDir, log: "" }).data);
}

/** Makes a database on the server that `url` leads to, as a copy of `template`. @returns the new database's URL. */
export async function createDatabase(url: string, name: string, template = "template1"): Promise<string> {
  await withServer(url, (sql) => sql`create database ${sql(name)} template ${sql(template)}`);
  const created = new URL(url);
  created.pathname = `/${name}`;
  return created.href;
}

/** Drops a database, whoever is connected to it. One that does not exist is no error. */
export async function dropDatabase(url: string, name: string): Promise<void> {
  await withServer(url, (sql) => sql`drop database if exists ${sql(name)} with (force)`);
}

async function withServer(url: string, act: (sql: postgres.Sql) => Promise<unknown>): Promise<void> {
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  try {
    await act(sql);
  } finally {
    await sql.end();
  }
}
