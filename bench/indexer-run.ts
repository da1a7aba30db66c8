/** One indexer of a build, started and watched for a benchmark. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { freePort } from "../scripts/local/ports.ts";
import { type Child, deathNotice, startProcess } from "../scripts/local/processes.ts";
import { waitFor } from "../scripts/local/wait.ts";

export type IndexerOptions = {
  /** The folder of the build. */
  readonly build: string;
  readonly databaseUrl: string;
  readonly rpcUrl: string;
  readonly deploymentFile: string;
  readonly logFolder: string;
  /** Options for Node itself, such as those of a profiler. */
  readonly nodeOptions?: readonly string[];
};

/** What Ponder says of a live block. `events` is without the one of every block, that it is the head. */
export type LiveBlock = { readonly number: number; readonly events: number; readonly ms: number };

export type IndexerRun = {
  /** Milliseconds of the backfill: from its start until all of the past is indexed. */
  readonly backfillMs: () => Promise<number>;
  /** The last block of the backfill. */
  readonly backfilledTo: () => bigint;
  /** Waits until this block is indexed, and resolves to all live blocks so far. */
  readonly live: (until: bigint) => Promise<readonly LiveBlock[]>;
  /** The most memory that it ever held, in MB; undefined where the system does not tell. */
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

/** The most that was ever resident, from Linux's own book-keeping. */
function peakMemoryOf(pid: number): number | undefined {
  try {
    const kilobytes = /^VmHWM:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    return kilobytes === undefined ? undefined : Number(kilobytes) / 1024;
  } catch {
    return undefined;
  }
}

export async function startIndexer(options: IndexerOptions): Promise<IndexerRun> {
  const { build, databaseUrl, rpcUrl, deploymentFile, logFolder, nodeOptions = [] } = options;
  const port = await freePort();
  const child = await startProcess({
    name: "indexer",
    command: process.execPath,
    args: [...nodeOptions, "--import", "tsx", "scripts/indexer.ts"],
    cwd: build,
    logFile: join(logFolder, `indexer-${port}.log`),
    env: {
      PATH: process.env.PATH,
      HOME: process.env.HOME,
      DATABASE_URL: databaseUrl,
      RPC_URL: rpcUrl,
      DEPLOYMENT_FILE: deploymentFile,
      PONDER_PORT: String(port),
      POLLING_INTERVAL_MS: "100",
    },
  });
  const said = <Found>(what: string, find: (lines: readonly Line[]) => Found | undefined): Promise<Found> =>
    waitFor({
      what: `${what}; its output is in ${child.logFile}`,
      probe: () => find(linesOf(child)),
      hopeless: () => deathNotice(child),
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
      said("the backfill to end", (lines) =>
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
      const blocks = await said(`block ${until}`, (lines) => {
        const found = liveBlocks(lines);
        return found.some(({ number }) => BigInt(number) >= until) ? found : undefined;
      });
      return blocks;
    },
    peakMemory: () => peakMemoryOf(child.pid),
    stop: async () => {
      await child.stop({ graceMs: 30_000 });
      await sleep(200); // its sessions end a moment after it
    },
  };
}
