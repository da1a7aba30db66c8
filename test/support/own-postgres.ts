/** A Postgres server for one test file, which it can stop, kill and start again. */
import { execFile } from "node:child_process";
import { mkdtempSync } from "node:fs";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";
import { inject } from "vitest";
import { signalPid, waitUntilGone } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { type LocalPostgres, type PostgresOptions, startPostgres } from "../../scripts/local/postgres.ts";
import { atEnd } from "./cleanup.ts";
import { createDatabase } from "./postgres-databases.ts";
import { recordPid } from "./run-folder.ts";

const run = promisify(execFile);

export type OwnPostgres = {
  /** A new database on this server. */
  readonly databaseUrl: string;
  /** Copies its files while it is stopped, and puts the copy of this name back. */
  readonly copy: (name: string) => Promise<void>;
  readonly putBack: (name: string) => Promise<void>;
  readonly start: () => Promise<LocalPostgres>;
  readonly stop: () => Promise<void>;
  /** Ends the server without a clean shutdown. After SIGKILL its sessions end by themselves. */
  readonly kill: (signal?: "SIGQUIT" | "SIGKILL") => Promise<void>;
};

/** Starts a server with a database of this name, and settings; the server stops at the end of the test file. */
export async function startOwnPostgres(
  database: string,
  settings: PostgresOptions["settings"] = {},
): Promise<OwnPostgres> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  // Not named for the port: another file of the run may draw it again, and would find this server's data.
  const dataDir = join(mkdtempSync(join(runFolder, "postgres-")), "data");
  let server: LocalPostgres;
  async function start(): Promise<LocalPostgres> {
    const logFile = `${dataDir}.log`;
    server = await startPostgres({ dataDir, port, logFile, settings: { fsync: false, ...settings } });
    recordPid(runFolder, server.pid);
    return server;
  }
  const { url } = await start();
  const stop = () => server.stop();
  atEnd(stop);
  const copyOf = (name: string) => `${dataDir} ${name}`;
  // With owners and modes: Postgres starts with no others.
  const copyFolder = async (from: string, to: string) => void (await run("cp", ["-a", from, to]));
  return {
    databaseUrl: await createDatabase(url, database),
    copy: (name) => copyFolder(dataDir, copyOf(name)),
    async putBack(name) {
      await rm(dataDir, { recursive: true });
      await copyFolder(copyOf(name), dataDir);
    },
    start,
    stop,
    async kill(signal = "SIGQUIT") {
      signalPid(server.pid, signal);
      await waitUntilGone(server.pid, 60_000);
    },
  };
}
