/** A streaming standby of a test's own Postgres server, which a test can pause, kill and promote. */
import { mkdtempSync } from "node:fs";
import { join } from "node:path";
import postgres from "postgres";
import { inject } from "vitest";
import { signalPid, waitUntilGone } from "../../scripts/local/pids.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { type LocalPostgres, startPostgres } from "../../scripts/local/postgres.ts";
import { copyToStandby } from "../../scripts/local/standby.ts";
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

/**
 * Starts a standby of the server of `databaseUrl`, a superuser's URL; it stops when the test file ends. Nothing else should write
 * meanwhile, so that no file vanishes under the copy.
 */
export async function startStandby(databaseUrl: string): Promise<TestStandby> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  const dataDir = join(mkdtempSync(join(runFolder, "standby-")), "data");
  const { options, url } = await copyToStandby(databaseUrl, {
    dataDir,
    port,
    logFile: `${dataDir}.log`,
    settings: { fsync: false },
  });

  let server: LocalPostgres;
  async function start(): Promise<void> {
    server = await startPostgres(options);
    recordPid(runFolder, server.pid);
  }
  await start();
  atEnd(() => server.stop());
  const sql = postgres(url, { max: 1, onnotice: () => {} });
  atEnd(() => sql.end({ timeout: 1 }));
  return {
    databaseUrl: url,
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
