/** An indexer of a folder's schema and projections, for builds that differ from the project's own. */
import { cpSync, mkdirSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import { buildIndexer } from "../build.ts";
import { freePort } from "./ports.ts";
import { type Child, startProcess } from "./processes.ts";
import type { StackSettings } from "./services.ts";

/** What an indexer reads at its start or has in its bundle, apart from the schema and the projections. */
const launcherFiles = [
  "package.json",
  "tsconfig.json",
  "ponder.config.ts",
  "ponder-env.d.ts",
  "abis",
  "lib",
  join("src", "shared", "sources.ts"),
];

/**
 * Makes a folder from which an indexer can run once it has a schema and projections; `more` names other files to copy.
 */
export function copyLauncher(folder: string, more: readonly string[]): void {
  for (const entry of [...launcherFiles, ...more]) {
    mkdirSync(dirname(join(folder, entry)), { recursive: true });
    cpSync(join(projectRoot, entry), join(folder, entry), { recursive: true });
  }
  symlinkSync(join(projectRoot, "node_modules"), join(folder, "node_modules"));
}

type IndexerSettings = Pick<StackSettings, "databaseUrl" | "rpcUrl" | "rpcWsUrl" | "deploymentFile">;

/** Bundles the indexer of `folder`, and starts it on a free port. */
export async function startSourceIndexer(
  folder: string,
  settings: IndexerSettings,
  logFolder: string,
): Promise<Child> {
  await buildIndexer(folder);
  return startBundledIndexer(folder, settings, logFolder);
}

/** Starts the bundle that `folder` has, on a free port. */
export async function startBundledIndexer(
  folder: string,
  settings: IndexerSettings,
  logFolder: string,
): Promise<Child> {
  const port = await freePort();
  return startProcess({
    name: "indexer",
    command: process.execPath,
    args: [join("dist", "indexer.mjs")],
    cwd: folder,
    logFile: join(logFolder, `indexer-${port}.log`),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: settings.databaseUrl,
      RPC_URL: settings.rpcUrl,
      RPC_WS_URL: settings.rpcWsUrl,
      DEPLOYMENT_FILE: settings.deploymentFile,
      PONDER_PORT: String(port),
      POLLING_INTERVAL_MS: "100",
    },
  });
}
