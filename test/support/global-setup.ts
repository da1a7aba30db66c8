import { join } from "node:path";
import type { TestProject } from "vitest/node";
import { migrateService } from "../../lib/db/migrate.ts";
import { migrateQueue } from "../../lib/queues/backend.ts";
import { isBuilt } from "../../scripts/build/inputs.ts";
import { buildServices } from "../../scripts/build.ts";
import { compile } from "../../scripts/compile.ts";
import { freePort } from "../../scripts/local/ports.ts";
import { type LocalPostgres, startPostgres } from "../../scripts/local/postgres.ts";
import { createDatabase } from "./postgres-databases.ts";
import { makeRunFolder, recordPid, removeDeadRuns, removeRunFolder } from "./run-folder.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** The run's Postgres. Create a database with `freshDatabase()`. */
    postgresUrl: string;
    /** The name of a database with the migrated schemas of service and queue, to be copied. */
    migratedTemplate: string;
    /** A folder that is deleted after the run. */
    runFolder: string;
  }
}

const migratedTemplate = "migrated";

async function startDatabaseServer(runFolder: string): Promise<LocalPostgres> {
  const server = await startPostgres({
    dataDir: join(runFolder, "postgres"),
    port: await freePort(),
    logFile: join(runFolder, "postgres.log"),
    // Test data must survive a crash of Postgres, but not one of the machine.
    settings: { fsync: false, full_page_writes: false, synchronous_commit: false, max_wal_size: "512MB" },
  });
  recordPid(runFolder, server.pid);
  const template = await createDatabase(server.url, migratedTemplate);
  await migrateService(template);
  await migrateQueue(template);
  return server;
}

/** Once per run: compiles the contracts and bundles the services unless they are up to date, and starts one Postgres for all test files. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  removeDeadRuns();
  const runFolder = makeRunFolder();
  // After SIGTERM vitest runs no teardown.
  process.once("exit", () => removeRunFolder(runFolder));
  compile();
  const building = isBuilt() ? Promise.resolve() : buildServices();
  building.catch(() => {}); // thrown below, when the server can be stopped
  const server = await startDatabaseServer(runFolder);
  await building;
  project.provide("postgresUrl", server.url);
  project.provide("migratedTemplate", migratedTemplate);
  project.provide("runFolder", runFolder);
  return async () => {
    await server.remove();
    removeRunFolder(runFolder);
  };
}
