/** The indexer of another build: the same sources in another folder, with a comment added to one projection. */
import { appendFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import { inject } from "vitest";
import type { Child } from "../../../scripts/local/processes.ts";
import { copyLauncher, startSourceIndexer } from "../../../scripts/local/source-indexer.ts";
import { atEnd, showOnFailure } from "../../support/cleanup.ts";
import { recordPid } from "../../support/run-folder.ts";
import type { Stack } from "../../support/stack.ts";

/** Starts the changed build beside the stack's own indexer: same database, same chain, same views, another port. */
export async function startChangedIndexer({ settings }: Stack): Promise<Child> {
  const runFolder = inject("runFolder");
  const folder = mkdtempSync(join(runFolder, "build-"));
  copyLauncher(folder, ["ponder.schema.ts", "src"]);
  appendFileSync(join(folder, "src", "CoverRouter.ts"), "// changed\n");
  const child = await startSourceIndexer(folder, settings, folder);
  recordPid(runFolder, child.pid);
  showOnFailure("changed indexer", child.logFile);
  atEnd(async () => {
    await child.stop();
  });
  return child;
}
