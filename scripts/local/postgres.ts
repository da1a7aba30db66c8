/** The Postgres of the npm package, started with `pg_ctl` in a separate session. */
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { commandLine, isRunning, signalPid, waitUntilGone } from "./pids.ts";
import { type PostgresRunner, postgresRunner } from "./postgres-binaries.ts";
import { tail } from "./processes.ts";

export type PostgresOptions = {
  /** Created and initialised when it does not exist. */
  readonly dataDir: string;
  readonly port: number;
  /** The server's log is appended to this file, unless the data had to move; see `logFile` of the result. */
  readonly logFile: string;
  /** More server settings; they override the defaults. */
  readonly settings?: Readonly<Record<string, string | number | boolean>>;
};

export type LocalPostgres = {
  /** The URL of the database `postgres`, as the superuser. */
  readonly url: string;
  readonly port: number;
  readonly pid: number;
  readonly logFile: string;
  /** Ends all sessions and the server. */
  readonly stop: () => Promise<void>;
  /** Stops the server and deletes its data. */
  readonly remove: () => Promise<void>;
};

/** Ponder opens up to 30 sessions, BullMQ two per queue, and tests run several stacks on one server. */
const maxConnections = 500;
/** The shared memory of a killed server is released only when its last session has ended. */
const startAttemptsMs = 15_000;
/** After so long the server is stopped as by a crash, which loses no committed data. */
const fastStopMs = 8_000;
const settingsFile = "stack.conf";

const configLine = ([name, value]: [string, string | number | boolean]) => `${name} = '${value}'`;

/** The process id of the server that runs on this folder, from its lock file; undefined when none runs. */
function runningServer(folder: string): number | undefined {
  const file = join(folder, "postmaster.pid");
  if (!existsSync(file)) return undefined;
  const pid = Number(readFileSync(file, "utf8").split("\n")[0]);
  // After a crash the id may belong to another process.
  const ours = Number.isInteger(pid) && isRunning(pid) && commandLine(pid)?.includes(folder);
  return ours ? pid : undefined;
}

async function stopServer(folder: string): Promise<void> {
  const pid = runningServer(folder);
  if (pid !== undefined) {
    // SIGINT ends the sessions, then the server. SIGQUIT ends it at once; the next start recovers.
    signalPid(pid, "SIGINT");
    if (!(await waitUntilGone(pid, fastStopMs))) {
      signalPid(pid, "SIGQUIT");
      await waitUntilGone(pid, fastStopMs);
    }
  }
}

/** initdb writes to another folder, renamed when complete, so that an interrupted run is never taken for a server. */
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
 * Starts Postgres on 127.0.0.1, open to every local user. Stops a server that an earlier run left on the same folder. The
 * server does not keep the caller's process alive and outlives it.
 */
export async function startPostgres(options: PostgresOptions): Promise<LocalPostgres> {
  const { port, settings } = options;
  const runner = await postgresRunner();
  const { data: folder, log } = runner.locate({ data: options.dataDir, log: options.logFile });
  await stopServer(folder);
  await initialise(runner, folder);
  rmSync(join(folder, "postmaster.pid"), { force: true }); // no server runs here, so the file is stale

  const configuration = {
    port,
    listen_addresses: "127.0.0.1",
    unix_socket_directories: "",
    max_connections: maxConnections,
    // By default it shows the first kB of a running statement, and tests wait for statements that are longer.
    track_activity_query_size: "16kB",
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
  if (pid === undefined) throw new Error(`Postgres ended right after its start; see ${log}`);
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

/** Stops the server on a data folder, such as one left by a killed run. Without a server it does nothing. */
export async function stopPostgres(dataDir: string): Promise<void> {
  const runner = await postgresRunner();
  await stopServer(runner.locate({ data: dataDir, log: "" }).data);
}
