/** The standby of the scale benchmark: a copy of the running primary that follows it, is killed, and is promoted. */
import { join } from "node:path";
import postgres, { type Sql } from "postgres";
import { signalPid, waitUntilGone } from "../scripts/local/pids.ts";
import { freePort } from "../scripts/local/ports.ts";
import { type LocalPostgres, startPostgres } from "../scripts/local/postgres.ts";
import { copyToStandby } from "../scripts/local/standby.ts";
import { waitFor } from "../scripts/local/wait.ts";
import type { BenchStack } from "./bench-stack.ts";

/** The primary keeps so much WAL for a standby that was away. */
export const PRIMARY_SETTINGS = { wal_keep_size: "2GB", max_wal_size: "2GB" };
const GONE_MS = 60_000;

export type BenchStandby = {
  readonly url: string;
  /** Sessions of the superuser, which connect anew after a start. */
  readonly sql: Sql;
  /** Starts it, and waits until it follows the primary. */
  readonly start: () => Promise<void>;
  /** Kills it as a crash would (SIGKILL). */
  readonly kill9: () => Promise<void>;
  /** Makes it a primary. */
  readonly promote: () => Promise<void>;
};

/** Kills a Postgres server (SIGKILL), and waits until it has ended. */
export async function kill9(pid: number): Promise<void> {
  signalPid(pid, "SIGKILL");
  await waitUntilGone(pid, GONE_MS);
}

/** Waits until a standby follows the primary, in one of these ways. */
const untilStreaming = (sql: Sql, ways: readonly string[] = ["sync", "async"]) =>
  waitFor({
    what: `the standby to follow the primary (${ways.join(" or ")})`,
    probe: async () => {
      const rows = await sql<{ way: string }[]>`
        select sync_state as way from pg_stat_replication where state = 'streaming'`;
      return rows.some(({ way }) => ways.includes(way)) || undefined;
    },
  });

/** From now on a commit on the primary is acknowledged once the standby has it on its disk. */
export async function replicateSynchronously(sql: Sql): Promise<void> {
  await sql`alter system set synchronous_standby_names = '*'`;
  await sql`select pg_reload_conf()`;
  await untilStreaming(sql, ["sync"]);
}

/** Copies the primary while nothing writes to it. The standby does not run yet. */
export async function createStandby(bench: BenchStack): Promise<BenchStandby> {
  const { folder, databaseUrl, processes, atEnd } = bench;
  const dataDir = join(folder, "standby");
  const { options, url } = await copyToStandby(databaseUrl, {
    dataDir,
    port: await freePort(),
    logFile: `${dataDir}.log`,
    settings: { ...PRIMARY_SETTINGS, hot_standby_feedback: true },
  });
  let server: LocalPostgres | undefined;
  atEnd(async () => server?.remove());
  const sql = postgres(url, { max: 2, onnotice: () => {} });
  atEnd(() => sql.end({ timeout: 1 }));
  return {
    url,
    sql,
    async start() {
      server = await startPostgres(options);
      processes.set("standby", server.pid);
      await untilStreaming(bench.sql);
    },
    async kill9() {
      if (server) await kill9(server.pid);
      processes.delete("standby");
    },
    async promote() {
      await sql`select pg_promote()`;
    },
  };
}
