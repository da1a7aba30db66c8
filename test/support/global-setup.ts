import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { freePort } from "../../lib/local/ports.ts";
import { startPostgres } from "../../lib/local/postgres.ts";
import { compile } from "../../scripts/compile.ts";
import { makeRunFolder, notePid, removeRunFolder, sweepDeadRuns } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's Postgres; make a database of your own with `freshDatabase()`. */
    postgresUrl: string;
    /** A folder that is deleted after the run. */
    runFolder: string;
  }
}

/** Once per run: compiles the contracts, and starts one Postgres on which each test file has databases of its own. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  sweepDeadRuns();
  const runFolder = makeRunFolder();
  // A run that is told to end (SIGTERM) gets no teardown.
  process.once("exit", () => removeRunFolder(runFolder));
  compile();
  const server = await startPostgres({
    dataDir: join(runFolder, "postgres"),
    port: await freePort(),
    logFile: join(runFolder, "postgres.log"),
    // Test data needs to survive a crash of Postgres, not one of the machine.
    settings: { fsync: false, full_page_writes: false, synchronous_commit: false, max_wal_size: "512MB" },
  });
  notePid(runFolder, server.pid);
  project.provide("postgresUrl", server.url);
  project.provide("runFolder", runFolder);
  return async () => {
    await server.remove();
    removeRunFolder(runFolder);
  };
}
