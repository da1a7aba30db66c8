/** A streaming standby of a test's own Postgres server, which a test can pause, kill and promote. */
import { execFile } from "node:child_process";
import { rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import postgres from "postgres";
import { inject } from "vitest";
import { signalPid, waitUntilGone } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { type LocalPostgres, startPostgres } from "../../scripts/local/postgres.ts";
import { postgresRunner } from "../../scripts/local/postgres-binaries.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "./cleanup.ts";
import { recordPid } from "./run-folder.ts";

export type TestStandby = {
  /** The database on the standby. */
  readonly databaseUrl: string;
  /** A session of the superuser on the standby, which ends when the standby is killed. */
  readonly sql: postgres.Sql;
  /** Stops the replay of what the primary writes; reads go on. */
  readonly pause: () => Promise<void>;
  readonly resume: () => Promise<void>;
  readonly start: () => Promise<void>;
  /** Ends the server without a clean shutdown. */
  readonly kill: () => Promise<void>;
};

/** Copies the data of the running server of `sql` to `target`, as `pg_basebackup` does. npm's Postgres does not have it. */
async function copyData(sql: postgres.Sql, target: string): Promise<void> {
  const [server] = await sql<{ data: string }[]>`select current_setting('data_directory') as data`;
  if (!server) throw new Error("Postgres did not tell its data directory");
  // Both statements must be of one session.
  await sql`select pg_backup_start('standby', fast => true)`;
  await promisify(execFile)("cp", ["-a", server.data, target]);
  const [backup] = await sql<{ label: string }[]>`
    select labelfile as label from pg_backup_stop(wait_for_archive => false)`;
  if (!backup) throw new Error("Postgres did not tell the backup's label");
  for (const name of ["postmaster.pid", "postmaster.opts"]) rmSync(join(target, name), { force: true });
  writeFileSync(join(target, "backup_label"), backup.label);
  writeFileSync(join(target, "standby.signal"), "");
}

/**
 * Starts a standby of the server of `databaseUrl`, a superuser's URL; it stops when the test file ends. Nothing else should write
 * meanwhile, so that no file vanishes under the copy.
 */
export async function startStandby(databaseUrl: string): Promise<TestStandby> {
  const runFolder = inject("runFolder");
  const primary = new URL(databaseUrl);
  const port = await freePort();
  const dataDir = join(runFolder, `standby-${port}`);
  const logFile = `${dataDir}.log`;
  const runner = await postgresRunner();
  const target = runner.locate({ data: dataDir, log: logFile }).data;
  const source = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  await copyData(source, target).finally(() => source.end());
  for (const name of ["backup_label", "standby.signal"]) runner.own(join(target, name));

  let server: LocalPostgres;
  async function start(): Promise<void> {
    const settings = {
      fsync: false,
      primary_conninfo: `host=${primary.hostname} port=${primary.port} user=${primary.username}`,
    };
    server = await startPostgres({ dataDir, port, logFile, settings });
    recordPid(runFolder, server.pid);
  }
  await start();
  atEnd(() => server.stop());
  const url = new URL(databaseUrl);
  url.port = String(port);
  const sql = postgres(url.href, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end({ timeout: 1 }));
  return {
    databaseUrl: url.href,
    sql,
    async pause() {
      await sql`select pg_wal_replay_pause()`;
      await waitFor({
        what: "the standby to pause",
        probe: async () => {
          const [replay] = await sql<{ state: string }[]>`select pg_get_wal_replay_pause_state() as state`;
          return replay?.state === "paused" || undefined;
        },
      });
    },
    async resume() {
      await sql`select pg_wal_replay_resume()`;
    },
    start,
    async kill() {
      signalPid(server.pid, "SIGQUIT");
      await waitUntilGone(server.pid, 60_000);
    },
  };
}
