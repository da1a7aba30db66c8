/** The indexer of another build: the same sources in a folder of their own, one projection changed by a comment. */
import { appendFileSync, cpSync, mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import { freePort } from "../../../scripts/local/ports.ts";
import { type Child, startProcess } from "../../../scripts/local/processes.ts";
import { atEnd, showOnFailure } from "../../support/cleanup.ts";
import { notePid } from "../../support/run-folder.ts";
import type { Stack } from "../../support/stack.ts";

const root = join(import.meta.dirname, "..", "..", "..");
/** What the launcher and Ponder read. */
const needed = [
  "package.json",
  "tsconfig.json",
  "ponder.config.ts",
  "ponder.schema.ts",
  "ponder-env.d.ts",
  "abis",
  "lib",
  "scripts",
  "src",
];

/** Starts the changed build beside the stack's own indexer: same database, same chain, same views, a port of its own. */
export async function startChangedIndexer({ settings }: Stack): Promise<Child> {
  const runFolder = inject("runFolder");
  const port = await freePort();
  const folder = join(runFolder, `build-${port}`);
  mkdirSync(folder);
  for (const entry of needed) cpSync(join(root, entry), join(folder, entry), { recursive: true });
  symlinkSync(join(root, "node_modules"), join(folder, "node_modules"));
  appendFileSync(join(folder, "src", "CoverRouter.ts"), "// changed\n");

  const logFile = join(folder, "indexer.log");
  const child = await startProcess({
    name: "the changed indexer",
    command: process.execPath,
    args: ["--import", "tsx", "scripts/indexer.ts"],
    cwd: folder,
    logFile,
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
  notePid(runFolder, child.pid);
  showOnFailure("changed indexer", logFile);
  atEnd(async () => {
    await child.stop();
  });
  return child;
}
