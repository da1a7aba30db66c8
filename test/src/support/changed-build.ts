/** The indexer of another build: the same sources in another folder, with a comment added to one projection, or more. */
import { appendFileSync, mkdtempSync } from "node:fs";
import { join } from "node:path";
import type { ISql } from "postgres";
import { inject } from "vitest";
import { type Child, exitMessage } from "../../../scripts/local/processes.ts";
import { copyLauncher, startSourceIndexer } from "../../../scripts/local/source-indexer.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd, showOnFailure } from "../../support/cleanup.ts";
import { recordPid } from "../../support/run-folder.ts";
import type { Stack } from "../../support/stack.ts";
import { servedSchema } from "./rows.ts";

/** A build starts and indexes within seconds, but takes minutes while other tests use both cores. */
const SLOW_START_MS = 240_000;

/**
 * Starts the changed build beside the stack's own indexer: same database, same chain, same views, another port. `schema` is
 * added to `ponder.schema.ts`.
 */
export async function startChangedIndexer({ settings }: Stack, { schema = "" } = {}): Promise<Child> {
  const runFolder = inject("runFolder");
  const folder = mkdtempSync(join(runFolder, "build-"));
  copyLauncher(folder, ["ponder.schema.ts", "src"]);
  appendFileSync(join(folder, "src", "CoverRouter.ts"), "// changed\n");
  appendFileSync(join(folder, "ponder.schema.ts"), schema);
  const child = await startSourceIndexer(folder, settings, folder);
  recordPid(runFolder, child.pid);
  showOnFailure("changed indexer", child.logFile);
  atEnd(async () => {
    await child.stop();
  });
  return child;
}

/**
 * Waits until the views show another schema than `old`. `meanwhile` is called at each look, so it should cost little: a busy
 * machine takes minutes. @throws when `indexer`, from which the schema is expected, has ended
 */
export const waitForOtherSchema = (
  sql: ISql,
  old: string | undefined,
  { indexer, meanwhile = async () => {} }: { indexer: Child; meanwhile?: () => Promise<unknown> },
): Promise<true> =>
  waitFor({
    what: "the views to show the schema of another build",
    probe: async () => {
      await meanwhile();
      const schema = await servedSchema(sql);
      return (schema !== undefined && schema !== old) || undefined;
    },
    giveUpReason: () => exitMessage(indexer),
    timeoutMs: SLOW_START_MS,
    intervalMs: 500,
  });
