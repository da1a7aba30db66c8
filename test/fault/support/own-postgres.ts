/** A Postgres of a test's own, which can be made to crash. */
import { join } from "node:path";
import { inject } from "vitest";
import { signalPid, waitUntilGone } from "../../../scripts/local/pids.ts";
import { freePort } from "../../../scripts/local/ports.ts";
import { createDatabase, startPostgres } from "../../../scripts/local/postgres.ts";
import { atEnd } from "../../support/cleanup.ts";
import { notePid } from "../../support/run-folder.ts";

export type OwnPostgres = {
  /** Of a fresh database on it. */
  readonly databaseUrl: string;
  /** Ends it as a crash would, and starts it again. */
  readonly crash: () => Promise<void>;
};

/** Starts one, with a database of this name; it ends with the test file. */
export async function startOwnPostgres(database: string): Promise<OwnPostgres> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  const dataDir = join(runFolder, `postgres-${port}`);
  const start = async () => {
    const started = await startPostgres({
      dataDir,
      port,
      logFile: `${dataDir}.log`,
      settings: { fsync: false },
    });
    notePid(runFolder, started.pid);
    return started;
  };
  let server = await start();
  atEnd(() => server.stop());
  return {
    databaseUrl: await createDatabase(server.url, database),
    async crash() {
      signalPid(server.pid, "SIGQUIT");
      await waitUntilGone(server.pid, 60_000);
      server = await start();
    },
  };
}
