/** Starts an indexer for a benchmark and reads its speed from its log. */
import { readFileSync } from "node:fs";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { type Child, exitMessage } from "../scripts/local/processes.ts";
import { startBundledIndexer } from "../scripts/local/source-indexer.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { residentMemoryOf } from "./process-usage.ts";

export type IndexerOptions = {
  /** The folder of the build, with its bundle. */
  readonly build: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly deploymentFile: string;
  readonly logFolder: string;
};

/** A live block as Ponder logs it. `events` does not count the block event that updates the head. */
export type LiveBlock = { readonly number: number; readonly events: number; readonly ms: number };

export type IndexerRun = {
  /** Waits for the end of the backfill. @returns its milliseconds. */
  readonly backfillMs: () => Promise<number>;
  /** The last block of the backfill. */
  readonly backfilledTo: () => bigint;
  /** Waits until this block is indexed. @returns all live blocks so far. */
  readonly live: (until: bigint) => Promise<readonly LiveBlock[]>;
  /** The highest resident memory so far, in MB; undefined except on Linux. */
  readonly peakMemory: () => number | undefined;
  readonly stop: () => Promise<void>;
};

const line = z.object({
  msg: z.string(),
  duration: z.number().optional(),
  number: z.number().optional(),
  event_count: z.number().optional(),
  finalized_block: z.number().optional(),
});
type Line = z.output<typeof line>;

function linesOf({ logFile }: Child): Line[] {
  return readFileSync(logFile, "utf8")
    .split("\n")
    .filter((text) => text.startsWith("{") && text.endsWith("}"))
    .flatMap((text) => line.safeParse(JSON.parse(text)).data ?? []);
}

export async function startIndexer(options: IndexerOptions): Promise<IndexerRun> {
  const child = await startBundledIndexer(options.build, { ...options, rpcWsUrl: "" }, options.logFolder);
  const waitForLog = <Found>(
    what: string,
    find: (lines: readonly Line[]) => Found | undefined,
  ): Promise<Found> =>
    waitFor({
      what: `${what}; its output is in ${child.logFile}`,
      probe: () => find(linesOf(child)),
      giveUpReason: () => exitMessage(child),
      timeoutMs: 300_000,
      intervalMs: 250,
    });
  const liveBlocks = (lines: readonly Line[]): LiveBlock[] =>
    lines.flatMap(({ msg, number, event_count: events, duration: ms }) =>
      msg === "Indexed block" && number !== undefined && events !== undefined && ms !== undefined
        ? [{ number, events: events - 1, ms }]
        : [],
    );
  return {
    backfillMs: () =>
      waitForLog("the backfill to end", (lines) =>
        lines.some(({ msg }) => msg === "Started live indexing")
          ? lines.find(({ msg }) => msg.startsWith("Completed backfill indexing"))?.duration
          : undefined,
      ),
    backfilledTo: () => {
      const block = linesOf(child).find(({ msg }) => msg === "Started live indexing")?.finalized_block;
      if (block === undefined) throw new Error("the backfill has not ended");
      return BigInt(block);
    },
    live: async (until) => {
      const blocks = await waitForLog(`block ${until}`, (lines) => {
        const found = liveBlocks(lines);
        return found.some(({ number }) => BigInt(number) >= until) ? found : undefined;
      });
      return blocks;
    },
    peakMemory: () => residentMemoryOf(child.pid, "VmHWM"),
    stop: async () => {
      await child.stop({ graceMs: 30_000 });
      await sleep(200); // its database sessions end a moment later
    },
  };
}
