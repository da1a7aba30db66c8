/**
 * Indexing speed: live blocks beside empty handlers in Ponder, which is the fastest that it can index; the time from a mined block of
 * 50 events until its rows are readable; and a warm backfill beside one plain insert for each event, the least that keeps every event.
 * All of them index the same chain with our launcher in the same run, so commits wait for the disk.
 */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { z } from "zod";
import { projectRoot } from "../lib/project-root.ts";
import { buildIndexer } from "../scripts/build.ts";
import { type Child, exitMessage } from "../scripts/local/processes.ts";
import { copyLauncher, startBundledIndexer } from "../scripts/local/source-indexer.ts";
import { waitFor } from "../scripts/local/wait.ts";
import { type BusyChain, openBusyChain } from "./busy-chain.ts";
import { median, percentile, report } from "./report.ts";
import { type BenchStack, startPart, withBenchStack } from "./stack.ts";

const EVENTS = Number(process.env.BENCH_EVENTS || 60_000);
const RUNS = 3;
/** Enough that most blocks are indexed by optimised code: with 4,000 events V8 compiles it for half of the time. */
const LIVE_EVENTS = 10_000;
const READABLE_BLOCKS = 60;
const LIVE_OF_EMPTY = 0.5;
const WARM_OF_INSERT = 0.5;
const READABLE_WITHIN_MS = 100;

const emptySchema = `import { onchainTable } from "ponder";
export const nothing = onchainTable("nothing", (t) => ({ id: t.integer().primaryKey() }));
`;
const emptyHandler = "async () => {}";

/** A row's size is about that of one of our typed rows; a block's event has no log. */
const insertSchema = `import { onchainTable } from "ponder";
export const fact = onchainTable("fact", (t) => ({
  id: t.text().primaryKey(),
  blockNumber: t.bigint().notNull(),
  blockHash: t.hex().notNull(),
  blockTimestamp: t.bigint().notNull(),
  txHash: t.hex(),
  logIndex: t.integer(),
  data: t.hex(),
}));
`;
const insertHandler = `async ({ event, context }) => {
  const { number, hash, timestamp } = event.block;
  await context.db.insert(tables.fact).values({
    id: event.id,
    blockNumber: number,
    blockHash: hash,
    blockTimestamp: timestamp,
    txHash: event.transaction?.hash,
    logIndex: event.log?.logIndex,
    data: event.log?.data,
  });
}`;

/** The names (`Contract:Event`) of all events that our projections handle. */
function handledEvents(): string[] {
  const files = readdirSync(join(projectRoot, "src"), { recursive: true, encoding: "utf8" });
  const names = files
    .filter((file) => file.endsWith(".ts"))
    .flatMap((file) => readFileSync(join(projectRoot, "src", file), "utf8").match(/"[A-Z]\w+:\w+"/g) ?? []);
  return [...new Set(names)].filter((name) => !name.endsWith(':setup"')).sort();
}

/** Bundles an indexer that handles the same events by one handler. @returns its folder */
async function createBuild(folder: string, schema: string, handler: string): Promise<string> {
  mkdirSync(folder);
  copyLauncher(folder, [join("src", "api")]);
  writeFileSync(join(folder, "ponder.schema.ts"), schema);
  const imports = 'import { ponder } from "ponder:registry";\nimport * as tables from "ponder:schema";\n';
  const handlers = handledEvents().map((name) => `ponder.on(${name}, ${handler});\n`);
  writeFileSync(join(folder, "src", "handlers.ts"), imports + handlers.join(""));
  await buildIndexer(folder);
  return folder;
}

/** A live block as Ponder logs it. `events` does not count the block event that updates the head. */
type LiveBlock = { readonly number: number; readonly events: number; readonly ms: number };

const line = z.object({
  msg: z.string(),
  duration: z.number().optional(),
  number: z.number().optional(),
  event_count: z.number().optional(),
  finalized_block: z.number().optional(),
});
type Line = z.output<typeof line>;

const linesOf = ({ logFile }: Child): Line[] =>
  readFileSync(logFile, "utf8")
    .split("\n")
    .filter((text) => text.startsWith("{") && text.endsWith("}"))
    .flatMap((text) => line.safeParse(JSON.parse(text)).data ?? []);

const waitForLog = <Found>(child: Child, what: string, find: (lines: readonly Line[]) => Found | undefined) =>
  waitFor({
    what: `${what}; its output is in ${child.logFile}`,
    probe: () => find(linesOf(child)),
    giveUpReason: () => exitMessage(child),
    timeoutMs: 300_000,
    intervalMs: 250,
  });

type Backfilled = { readonly child: Child; readonly ms: number; readonly to: bigint };

/** Starts an indexer on an empty index, with what Ponder has cached of the chain, and waits for the end of its backfill. */
async function startIndexer(
  { sql, ...stack }: BenchStack,
  build: string,
  rpcWsUrl = "",
): Promise<Backfilled> {
  await dropIndex(sql);
  const { url: rpcUrl, deploymentFile } = stack.chain;
  const settings = { databaseUrl: stack.databaseUrl, rpcUrl, rpcWsUrl, deploymentFile };
  const child = await startPart(() => startBundledIndexer(build, settings, stack.folder));
  return waitForLog(child, "the backfill to end", (lines) => {
    const to = lines.find(({ msg }) => msg === "Started live indexing")?.finalized_block;
    const ms = lines.find(({ msg }) => msg.startsWith("Completed backfill indexing"))?.duration;
    return to !== undefined && ms !== undefined ? { child, ms, to: BigInt(to) } : undefined;
  });
}

async function stopIndexer(child: Child): Promise<void> {
  await child.stop({ graceMs: 30_000 });
  await sleep(200); // its database sessions end a moment later
}

async function dropIndex(sql: Sql): Promise<void> {
  const schemas = await sql<{ name: string }[]>`
    select nspname as name from pg_namespace where nspname like 'idx\\_%' or nspname = 'indexer'`;
  for (const { name } of schemas) await sql`drop schema ${sql(name)} cascade`;
}

/** Events a second of a backfill. */
async function backfill(stack: BenchStack, chain: BusyChain, build: string): Promise<number> {
  const { child, ms, to } = await startIndexer(stack, build);
  await stopIndexer(child);
  return ((await chain.events(BigInt(stack.chain.deployment.startBlock), to)) * 1000) / ms;
}

/** Events a second of live blocks, which are mined as fast as the node can. */
async function live(stack: BenchStack, chain: BusyChain, build: string): Promise<number> {
  const { child } = await startIndexer(stack, build);
  const blocks = (until: bigint) =>
    waitForLog(child, `block ${until}`, (lines) => {
      const found: LiveBlock[] = lines.flatMap(({ msg, number, event_count: events, duration: ms }) =>
        msg === "Indexed block" && number !== undefined && events !== undefined && ms !== undefined
          ? [{ number, events: events - 1, ms }]
          : [],
      );
      return found.some(({ number }) => BigInt(number) >= until) ? found : undefined;
    });
  const from = await chain.newest();
  await blocks(from);
  await chain.add(LIVE_EVENTS);
  const busy = (await blocks(await chain.newest())).filter(
    ({ number, events }) => number > from && events > 0,
  );
  await stopIndexer(child);
  const sum = (of: "events" | "ms") => busy.reduce((total, block) => total + block[of], 0);
  return (sum("events") * 1000) / sum("ms");
}

/** Milliseconds from the node's answer that it has mined a block of 50 events until the index's views show the block. */
async function readable(stack: BenchStack, chain: BusyChain): Promise<number[]> {
  const { child } = await startIndexer(stack, projectRoot, stack.chain.wsUrl);
  const indexed = async (block: bigint) => {
    const [row] = await stack.sql<{ number: string }[]>`select number::text from indexer.head`;
    return (row && BigInt(row.number) >= block) || undefined;
  };
  const times: number[] = [];
  for (let block = 0; block < READABLE_BLOCKS; block += 1) {
    await chain.addPurchases();
    const mined = performance.now();
    const newest = await chain.newest();
    await waitFor({
      what: `block ${newest}`,
      probe: () => indexed(newest),
      timeoutMs: 60_000,
      intervalMs: 2,
    });
    times.push(performance.now() - mined);
    await sleep(100 + Math.random() * 200); // no block keeps step with the indexer
  }
  await stopIndexer(child);
  return times.slice(READABLE_BLOCKS / 2); // V8 has compiled the code of live blocks
}

const yesterday = () => BigInt(Math.floor(Date.now() / 1000) - 86_400);

/** With `local: false`, because Ponder does not cache the RPC answers of a local chain. */
export const benchIndex = (): Promise<void> =>
  withBenchStack({ timestamp: yesterday(), relayers: 0, local: false }, async (stack) => {
    const empty = await createBuild(join(stack.folder, "empty"), emptySchema, emptyHandler);
    const insert = await createBuild(join(stack.folder, "insert"), insertSchema, insertHandler);
    const chain = await openBusyChain(stack.protocol);
    const events = await chain.add(EVENTS);
    // A backfill ends at the newest final block; Ponder does not count the newest 30 as final.
    for (let block = 0; block < 30; block += 1) await chain.mine([]);
    console.log(`${events} events in ${await chain.newest()} blocks`);

    const cold = await backfill(stack, chain, projectRoot);
    const [inserts, ours]: [number[], number[]] = [[], []];
    for (let round = 0; round < RUNS; round += 1) {
      inserts.push(await backfill(stack, chain, insert));
      ours.push(await backfill(stack, chain, projectRoot));
    }
    const [liveEmpty, liveOurs] = [await live(stack, chain, empty), await live(stack, chain, projectRoot)];
    const times = await readable(stack, chain);
    report(`index: ${events} events, medians of ${RUNS} warm backfills, ${LIVE_EVENTS} live events`, [
      {
        what: "live events, of empty handlers",
        value: liveOurs / liveEmpty,
        unit: "",
        atLeast: LIVE_OF_EMPTY,
      },
      { what: "  ours", value: liveOurs, unit: "/s" },
      { what: "  empty handlers", value: liveEmpty, unit: "/s" },
      {
        what: "a live block of 50 events to readable",
        value: median(times),
        unit: "ms",
        atMost: READABLE_WITHIN_MS,
      },
      { what: "  99th percentile", value: percentile(times, 99), unit: "ms" },
      {
        what: "warm backfill, of one insert for each event",
        value: median(ours) / median(inserts),
        unit: "",
        atLeast: WARM_OF_INSERT,
      },
      { what: "  ours", value: median(ours), unit: "/s" },
      { what: "  one insert for each event", value: median(inserts), unit: "/s" },
      { what: "cold backfill, once", value: cold, unit: "/s" },
    ]);
  });
