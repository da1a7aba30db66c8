/**
 * Indexing speed in events a second: a backfill of 100,000 protocol events with and without Ponder's cache of RPC
 * answers, and live blocks. Each is compared with Ponder running empty handlers on the same chain in the same run; the warm
 * backfill also with one insert for each event.
 */
import { cpus } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { projectRoot } from "../lib/project-root.ts";
import { withBenchStack } from "./bench-stack.ts";
import { type BusyChain, openBusyChain } from "./busy-chain.ts";
import { type IndexerOptions, type LiveBlock, startIndexer } from "./indexer-run.ts";
import { writeEmptyBuild, writeInsertBuild } from "./reference-builds.ts";
import { type Finding, median, report } from "./report.ts";

const EVENTS = Number(process.env.BENCH_INDEX_EVENTS || 100_000);
const RUNS = Number(process.env.BENCH_INDEX_RUNS || 3);
/** Enough that most blocks are indexed by optimised code: with 4,000 events V8 compiles it for half of the time. */
const LIVE_EVENTS = 16_000;
const EMPTY_BLOCKS = 100;
/** The shares of the empty handlers' speed, time and memory that ours must reach, and must not exceed. */
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

type Builds = Readonly<Record<"empty" | "insert" | "full", string>>;

async function measure(builds: Builds, setting: Setting): Promise<Finding[]> {
  const cold = {
    empty: await backfill(builds.empty, setting, false),
    full: await backfill(builds.full, setting, false),
  };
  const warm: Record<keyof Builds, Backfill[]> = { empty: [], insert: [], full: [] };
  for (let round = 0; round < RUNS; round++) {
    warm.empty.push(await backfill(builds.empty, setting, true));
    warm.insert.push(await backfill(builds.insert, setting, true));
    warm.full.push(await backfill(builds.full, setting, true));
  }
  const speeds = (runs: readonly Backfill[]) => median(runs.map(({ perSecond }) => perSecond));
  const peaks = (runs: readonly Backfill[]) => median(runs.flatMap(({ memory = 0 }) => memory));
  const emptyLive = await live(builds.empty, setting);
  const fullLive = await live(builds.full, setting);

  const pair = (
    what: string,
    unit: string,
    full: number,
    empty: number,
    shares: Omit<NonNullable<Finding["compared"]>, "with">,
  ): Finding[] => [
    { what: `${what}, empty handlers`, value: empty, unit },
    { what, value: full, unit, compared: { with: empty, ...shares } },
  ];
  return [
    ...pair("backfill, warm cache", "ev/s", speeds(warm.full), speeds(warm.empty), WARM),
    {
      what: "backfill, warm cache, one insert for each event",
      value: speeds(warm.insert),
      unit: "ev/s",
      compared: { with: speeds(warm.empty) },
    },
    ...pair("backfill, cold cache", "ev/s", cold.full.perSecond, cold.empty.perSecond, COLD),
    ...pair("live blocks", "ev/s", rate(fullLive.busy), rate(emptyLive.busy), LIVE),
    ...pair(
      "a live block with events, median",
      "ms",
      middle(fullLive.busy),
      middle(emptyLive.busy),
      BUSY_BLOCK,
    ),
    ...pair(
      "a live block without events, median",
      "ms",
      middle(fullLive.empty),
      middle(emptyLive.empty),
      EMPTY_BLOCK,
    ),
    ...pair("peak memory of a warm backfill", "MB", peaks(warm.full), peaks(warm.empty), MEMORY),
  ];
}

const yesterday = () => BigInt(Math.floor(Date.now() / 1000) - 86_400);

/** With `local: false`, because Ponder does not cache the RPC answers of a local chain. */
export const benchIndex = (): Promise<void> =>
  withBenchStack({ timestamp: yesterday(), relayers: 0, local: false }, async (stack) => {
    const builds = {
      empty: join(stack.folder, "empty"),
      insert: join(stack.folder, "insert"),
      full: projectRoot,
    };
    writeEmptyBuild(builds.empty);
    writeInsertBuild(builds.insert);

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
      await measure(builds, { databaseUrl, rpcUrl, deploymentFile, logFolder, chain, startBlock }),
    );
  });
