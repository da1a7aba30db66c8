/**
 * How fast the index is: events a second of a backfill of 100,000 protocol events, with Ponder's cache of the RPC and
 * without it, and of live blocks, beside Ponder with empty handlers on the same chain, in the same run.
 */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { cpus, tmpdir } from "node:os";
import { join } from "node:path";
import postgres from "postgres";
import { anvilAccount } from "../lib/chain/client.ts";
import { startAnvil } from "../scripts/local/anvil.ts";
import { freePorts } from "../scripts/local/ports.ts";
import { createDatabase, startPostgres } from "../scripts/local/postgres.ts";
import { openProtocol } from "../scripts/local/protocol/actions/index.ts";
import { deployProtocol } from "../scripts/local/protocol/deploy.ts";
import { type BusyDays, openBusyDays } from "./busy-days.ts";
import { writeEmptyBuild } from "./empty-build.ts";
import { type IndexerOptions, type LiveBlock, startIndexer } from "./indexer-run.ts";
import { type Finding, median, report } from "./report.ts";

const EVENTS = Number(process.env.BENCH_INDEX_EVENTS || 100_000);
const RUNS = Number(process.env.BENCH_INDEX_RUNS || 3);
const LIVE_EVENTS = 4000;
const EMPTY_BLOCKS = 100;
const DAY = 86_400;
/** Warm, and live: a projection may cost so much more than an empty handler. */
const LEAST_RATIO = 0.6;

const ours = join(import.meta.dirname, "..");

type Setting = Omit<IndexerOptions, "build"> & {
  readonly chain: BusyDays;
  readonly startBlock: bigint;
};
type Backfill = { readonly perSecond: number; readonly memory: number | undefined };

/** Forgets the index, and with `cache` also what Ponder keeps of the RPC's answers. */
async function forget(databaseUrl: string, { cache }: { readonly cache: boolean }): Promise<void> {
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
  await forget(setting.databaseUrl, { cache: !cache });
  const run = await startIndexer({ ...setting, build });
  try {
    const ms = await run.backfillMs();
    const events = await setting.chain.events(setting.startBlock, run.backfilledTo());
    return { perSecond: (events * 1000) / ms, memory: run.peakMemory() };
  } finally {
    await run.stop();
  }
}

/** Live blocks as busy as those of the past, and empty ones, indexed as they come. */
async function live(build: string, setting: Setting): Promise<{ busy: LiveBlock[]; empty: LiveBlock[] }> {
  await forget(setting.databaseUrl, { cache: false });
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

async function measure(emptyBuild: string, setting: Setting): Promise<Finding[]> {
  const builds = { empty: emptyBuild, full: ours };
  const cold = {
    empty: await backfill(builds.empty, setting, false),
    full: await backfill(builds.full, setting, false),
  };
  const warm: { empty: Backfill[]; full: Backfill[] } = { empty: [], full: [] };
  for (let round = 0; round < RUNS; round++) {
    warm.empty.push(await backfill(builds.empty, setting, true));
    warm.full.push(await backfill(builds.full, setting, true));
  }
  const speeds = (runs: readonly Backfill[]) => median(runs.map(({ perSecond }) => perSecond));
  const peaks = (runs: readonly Backfill[]) => median(runs.flatMap(({ memory = 0 }) => memory));
  const emptyLive = await live(builds.empty, setting);
  const fullLive = await live(builds.full, setting);

  const pair = (what: string, unit: string, full: number, empty: number, least?: number): Finding[] => [
    { what: `${what}, empty handlers`, value: empty, unit },
    { what, value: full, unit, compared: { with: empty, ...(least === undefined ? {} : { least }) } },
  ];
  return [
    ...pair("backfill, warm cache", "ev/s", speeds(warm.full), speeds(warm.empty), LEAST_RATIO),
    ...pair("backfill, cold cache", "ev/s", cold.full.perSecond, cold.empty.perSecond),
    ...pair("live blocks", "ev/s", rate(fullLive.busy), rate(emptyLive.busy)),
    ...pair("a live block with events, median", "ms", middle(fullLive.busy), middle(emptyLive.busy)),
    ...pair("a live block without, median", "ms", middle(fullLive.empty), middle(emptyLive.empty)),
    ...pair("peak memory of a warm backfill", "MB", peaks(warm.full), peaks(warm.empty)),
  ];
}

export async function benchIndex(): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-index-"));
  const [chainPort = 0, postgresPort = 0] = await freePorts(2);
  const endings: (() => Promise<unknown>)[] = [];
  try {
    const anvil = await startAnvil({
      port: chainPort,
      chainId: 8453,
      logFile: join(folder, "chain.log"),
      timestamp: BigInt(Math.floor(Date.now() / 1000) - DAY),
    });
    endings.push(() => anvil.stop());
    const server = await startPostgres({
      dataDir: join(folder, "postgres"),
      port: postgresPort,
      logFile: join(folder, "postgres.log"),
    });
    endings.push(() => server.remove());
    const databaseUrl = await createDatabase(server.url, "bench");

    const owner = anvilAccount(0);
    const deployment = await deployProtocol({
      rpcUrl: anvil.url,
      ...{ chainId: 8453, name: "Benchmark", owner, relayers: [], local: true, retired: false },
    });
    // Of a chain that is not local Ponder keeps the RPC's answers.
    const deploymentFile = join(folder, "deployment.json");
    writeFileSync(deploymentFile, JSON.stringify({ ...deployment, local: false }));
    const emptyBuild = join(folder, "empty");
    writeEmptyBuild(emptyBuild);

    const begun = performance.now();
    const chain = await openBusyDays(openProtocol(deployment, anvil.url));
    const events = await chain.add(EVENTS);
    // What Ponder does not count as final yet, the newest 30 blocks, is not part of a backfill.
    for (let block = 0; block < 30; block++) await chain.mine([]);
    const blocks = await chain.newest();
    console.log(
      `${events} events in ${blocks} blocks, made in ${((performance.now() - begun) / 1000).toFixed(0)} s`,
    );

    const startBlock = BigInt(deployment.startBlock);
    const setting = { databaseUrl, rpcUrl: anvil.url, deploymentFile, logFolder: folder, chain, startBlock };
    report(
      `index: ${events} events in ${blocks} blocks, medians of ${RUNS} warm backfills and one cold one, the RPC under sixteen aliases, ${cpus().length} cores`,
      await measure(emptyBuild, setting),
    );
  } finally {
    for (const end of endings.reverse()) await end();
    rmSync(folder, { recursive: true, force: true });
  }
}
