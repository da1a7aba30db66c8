/**
 * Indexing speed in events a second: a backfill of 100,000 protocol events with and without Ponder's cache of RPC answers, and live
 * blocks. Each is compared with empty handlers in Ponder as it is published, on the same chain in the same run, and the warm backfill
 * also with one insert for each event. Our launcher starts them all: commits wait for the disk, and V8 collects early. Empty handlers
 * in Ponder with our changes are shown as well.
 */
import { cpus } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { projectRoot } from "../lib/project-root.ts";
import { buildIndexer } from "../scripts/build.ts";
import { withBenchStack } from "./bench-stack.ts";
import { type BusyChain, openBusyChain } from "./busy-chain.ts";
import { type IndexerOptions, type LiveBlock, startIndexer } from "./indexer-run.ts";
import { createEmptyBuild, createInsertBuild } from "./reference-builds.ts";
import { type Finding, median, report } from "./report.ts";

const EVENTS = Number(process.env.BENCH_INDEX_EVENTS || 100_000);
const RUNS = Number(process.env.BENCH_INDEX_RUNS || 3);
/** Enough that most blocks are indexed by optimised code: with 4,000 events V8 compiles it for half of the time. */
const LIVE_EVENTS = 16_000;
const EMPTY_BLOCKS = 100;
/** The shares of the published Ponder's speed, time and memory with empty handlers that ours must reach, and must not exceed. */
const WARM = { limit: 0.55, least: 0.7 };
const COLD = { limit: 0.92 };
const LIVE = { limit: 0.5 };
const BUSY_BLOCK = { most: 3 };
const EMPTY_BLOCK = { most: 1.6 };
const MEMORY = { most: 1.2 };

type Setting = Omit<IndexerOptions, "build"> & {
  readonly chain: BusyChain;
  readonly startBlock: bigint;
};
type Backfill = { readonly perSecond: number; readonly memory: number | undefined };

/** Drops the index, and with `cache` also Ponder's cache of RPC answers. */
async function dropIndex(databaseUrl: string, { cache }: { readonly cache: boolean }): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const schemas = await sql<{ name: string }[]>`
      select nspname as name from pg_namespace
      where nspname like 'idx\\_%' or nspname = 'indexer' or (${cache} and nspname = 'ponder_sync')`;
    for (const { name } of schemas) await sql`drop schema ${sql(name)} cascade`;
  } finally {
    await sql.end();
  }
}

async function backfill(build: string, setting: Setting, cache: boolean): Promise<Backfill> {
  await dropIndex(setting.databaseUrl, { cache: !cache });
  const run = await startIndexer({ ...setting, build });
  try {
    const ms = await run.backfillMs();
    const events = await setting.chain.events(setting.startBlock, run.backfilledTo());
    return { perSecond: (events * 1000) / ms, memory: run.peakMemory() };
  } finally {
    await run.stop();
  }
}

/** Mines busy and empty blocks while the indexer runs. */
async function live(build: string, setting: Setting): Promise<{ busy: LiveBlock[]; empty: LiveBlock[] }> {
  await dropIndex(setting.databaseUrl, { cache: false });
  const run = await startIndexer({ ...setting, build });
  try {
    await run.backfillMs();
    const { chain } = setting;
    const from = Number(await chain.newest());
    await run.live(BigInt(from));
    await chain.add(LIVE_EVENTS);
    for (let block = 0; block < EMPTY_BLOCKS; block++) await chain.mine([]);
    const blocks = (await run.live(await chain.newest())).filter(({ number }) => number > from);
    return {
      busy: blocks.filter(({ events }) => events > 0),
      empty: blocks.filter(({ events }) => events === 0),
    };
  } finally {
    await run.stop();
  }
}

const rate = (blocks: readonly LiveBlock[]) =>
  (blocks.reduce((sum, { events }) => sum + events, 0) * 1000) / blocks.reduce((sum, { ms }) => sum + ms, 0);
const middle = (blocks: readonly LiveBlock[]) => median(blocks.map(({ ms }) => ms));

/** Empty handlers in Ponder as it is published, one insert for each event in it, empty handlers in Ponder as we change it, and ours. */
const builds = ["published", "insert", "changed", "full"] as const;
type Build = (typeof builds)[number];

async function measure(folders: Readonly<Record<Build, string>>, setting: Setting): Promise<Finding[]> {
  const cold = {
    published: await backfill(folders.published, setting, false),
    changed: await backfill(folders.changed, setting, false),
    full: await backfill(folders.full, setting, false),
  };
  const warm: Record<Build, Backfill[]> = { published: [], insert: [], changed: [], full: [] };
  for (let round = 0; round < RUNS; round++) {
    for (const build of builds) warm[build].push(await backfill(folders[build], setting, true));
  }
  const lives = {
    published: await live(folders.published, setting),
    changed: await live(folders.changed, setting),
    full: await live(folders.full, setting),
  };

  const speed = (runs: readonly Backfill[]) => median(runs.map(({ perSecond }) => perSecond));
  const peak = (runs: readonly Backfill[]) => median(runs.flatMap(({ memory = 0 }) => memory));
  const findings = (
    what: string,
    unit: string,
    value: (build: Exclude<Build, "insert">) => number,
    shares: Omit<NonNullable<Finding["compared"]>, "with">,
  ): Finding[] => [
    { what, value: value("full"), unit, compared: { with: value("published"), ...shares } },
    { what: "  empty handlers, published Ponder", value: value("published"), unit },
    {
      what: "  empty handlers, changed Ponder",
      value: value("changed"),
      unit,
      compared: { with: value("published") },
    },
  ];
  return [
    ...findings("backfill, warm cache", "ev/s", (build) => speed(warm[build]), WARM),
    {
      what: "  one insert for each event, published Ponder",
      value: speed(warm.insert),
      unit: "ev/s",
      compared: { with: speed(warm.published) },
    },
    ...findings("backfill, cold cache", "ev/s", (build) => cold[build].perSecond, COLD),
    ...findings("live blocks", "ev/s", (build) => rate(lives[build].busy), LIVE),
    ...findings("a live block with events, median", "ms", (build) => middle(lives[build].busy), BUSY_BLOCK),
    ...findings(
      "a live block without events, median",
      "ms",
      (build) => middle(lives[build].empty),
      EMPTY_BLOCK,
    ),
    ...findings("peak memory of a warm backfill", "MB", (build) => peak(warm[build]), MEMORY),
  ];
}

const yesterday = () => BigInt(Math.floor(Date.now() / 1000) - 86_400);

/** With `local: false`, because Ponder does not cache the RPC answers of a local chain. */
export const benchIndex = (): Promise<void> =>
  withBenchStack({ timestamp: yesterday(), relayers: 0, local: false }, async (stack) => {
    const folders = {
      published: join(stack.folder, "published"),
      insert: join(stack.folder, "insert"),
      changed: join(stack.folder, "changed"),
      full: projectRoot,
    };
    await createEmptyBuild(folders.published, "published");
    await createInsertBuild(folders.insert, "published");
    await createEmptyBuild(folders.changed, "changed");
    await buildIndexer(folders.full);

    const begun = performance.now();
    const chain = await openBusyChain(stack.protocol);
    const events = await chain.add(EVENTS);
    // A backfill ends at the newest final block; Ponder does not count the newest 30 as final.
    for (let block = 0; block < 30; block++) await chain.mine([]);
    const blocks = await chain.newest();
    const seconds = ((performance.now() - begun) / 1000).toFixed(0);
    console.log(`${events} events in ${blocks} blocks, made in ${seconds} s`);

    const { url: rpcUrl, deployment, deploymentFile } = stack.chain;
    const startBlock = BigInt(deployment.startBlock);
    const { databaseUrl, folder: logFolder } = stack;
    report(
      `index: ${events} events in ${blocks} blocks, medians of ${RUNS} warm backfills and one cold one, ${cpus().length} cores`,
      await measure(folders, { databaseUrl, rpcUrl, deploymentFile, logFolder, chain, startBlock }),
    );
  });
