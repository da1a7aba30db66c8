/** What this proves: Ponder records a backfill's block as indexed only with the block's events (`patches/ponder+…+003`). */
import { join } from "node:path";
import { drizzle } from "drizzle-orm/node-postgres";
import pg from "pg";
import { expect, test } from "vitest";
import { z } from "zod";
import { projectRoot } from "../../lib/project-root.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";

const CHAIN_ID = 8453;
const LAST_BLOCK = 4;
type Args = Readonly<Record<string, unknown>>;

/** A module of Ponder that its package does not export; `shape` names what is used of it. */
async function ponder<Shape extends z.ZodRawShape>(file: string, shape: Shape) {
  const path = join(projectRoot, "node_modules", "ponder", "dist", "esm", file);
  return z.object(shape).parse({ ...(await import(path)) });
}
const maker = z.custom<(args: Args) => unknown>();

/** Ponder's parts, without logs, and its connection to the database. */
async function openPonder(databaseUrl: string) {
  const { createLogger } = await ponder("internal/logger.js", { createLogger: maker });
  const { createShutdown } = await ponder("internal/shutdown.js", {
    createShutdown: z.custom<() => unknown>(),
  });
  const { MetricsService } = await ponder("internal/metrics.js", {
    MetricsService: z.custom<new () => unknown>(),
  });
  const { createQB } = await ponder("database/queryBuilder.js", {
    createQB: z.custom<(db: unknown, args: Args) => unknown>(),
  });
  const common = {
    options: { databaseMaxQueryParameters: 16_000 },
    logger: createLogger({ level: "silent" }),
    metrics: new MetricsService(),
    shutdown: createShutdown(),
  };
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 2 });
  atEnd(() => pool.end());
  return { common, pool, qb: createQB(drizzle(pool, { casing: "snake_case" }), { common, isAdmin: false }) };
}

const hex = (value: number, bytes = 1) => `0x${value.toString(16).padStart(2 * bytes, "0")}`;
const ADDRESS = hex(0xc0de, 20);

/** Blocks 0 to 4 with one log each, as Ponder stores what it has fetched. */
async function storeBlocks({ common, pool, qb }: Awaited<ReturnType<typeof openPonder>>): Promise<void> {
  const { Kysely, Migrator, PostgresDialect, WithSchemaPlugin } = await import("kysely");
  const { buildMigrationProvider } = await ponder("sync-store/migrations.js", {
    buildMigrationProvider: z.custom<(logger: unknown) => import("kysely").MigrationProvider>(),
  });
  const plugins = [new WithSchemaPlugin("ponder_sync")];
  await pool.query("create schema ponder_sync");
  const { error } = await new Migrator({
    db: new Kysely({ dialect: new PostgresDialect({ pool }), plugins }),
    provider: buildMigrationProvider(common.logger),
    migrationTableSchema: "ponder_sync",
  }).migrateToLatest();
  if (error) throw error;
  const { createSyncStore } = await ponder("sync-store/index.js", {
    createSyncStore: z.custom<(args: Args) => Record<string, (args: Args) => Promise<void>>>(),
  });
  const store = createSyncStore({ common, qb });
  const numbers = Array.from({ length: LAST_BLOCK + 1 }, (_, number) => number);
  const place = (number: number) => ({
    blockNumber: hex(number),
    transactionIndex: hex(0),
    blockHash: hex(number, 32),
  });
  const blocks = numbers.map((number) => ({
    ...{
      number: hex(number),
      timestamp: hex(1_700_000_000 + number),
      hash: hex(number, 32),
      parentHash: hex(9, 32),
    },
    ...{
      logsBloom: hex(1, 256),
      miner: ADDRESS,
      gasUsed: "0x1",
      gasLimit: "0x1",
      stateRoot: hex(1, 32),
      size: "0x1",
    },
    ...{ receiptsRoot: hex(1, 32), transactionsRoot: hex(1, 32), difficulty: "0x0", extraData: "0x" },
  }));
  const transactions = numbers.map((number) => ({
    ...{ ...place(number), hash: hex(number, 32), from: ADDRESS, to: ADDRESS, input: "0x", value: "0x0" },
    ...{ nonce: "0x0", type: "0x2", gas: "0x5208" },
  }));
  const logs = numbers.map((number) => ({
    ...{ ...place(number), logIndex: hex(0), transactionHash: hex(number, 32), address: ADDRESS },
    ...{ topics: [hex(1, 32)], data: "0x" },
  }));
  await store.insertBlocks?.({ blocks, chainId: CHAIN_ID });
  await store.insertTransactions?.({ transactions, chainId: CHAIN_ID });
  await store.insertLogs?.({ logs, chainId: CHAIN_ID });
}

type Batch = {
  readonly events: readonly { readonly log: { readonly blockNumber: number } }[];
  readonly checkpoint: string;
};
type Checkpoint = { readonly blockNumber: bigint };

test("a batch that ends before a backfill's last block does not record that block as indexed", async () => {
  const parts = await openPonder(await freshDatabase({ empty: true }));
  await storeBlocks(parts);
  const { getLocalEventGenerator } = await ponder("runtime/historical.js", {
    getLocalEventGenerator: z.custom<(args: Args) => AsyncIterable<Batch>>(),
  });
  const { encodeCheckpoint, decodeCheckpoint, ZERO_CHECKPOINT, MAX_CHECKPOINT } = await ponder(
    "utils/checkpoint.js",
    {
      encodeCheckpoint: z.custom<(checkpoint: Checkpoint) => string>(),
      decodeCheckpoint: z.custom<(checkpoint: string) => Checkpoint>(),
      ZERO_CHECKPOINT: z.custom<Checkpoint>(),
      MAX_CHECKPOINT: z.custom<Checkpoint>(),
    },
  );
  const filter = {
    type: "log",
    chainId: CHAIN_ID,
    address: ADDRESS,
    topic0: hex(1, 32),
    hasTransactionReceipt: false,
    include: [],
  };
  const last = { number: hex(LAST_BLOCK), timestamp: "0x0" };
  const batches = getLocalEventGenerator({
    common: parts.common,
    database: { syncQB: parts.qb },
    eventCallbacks: [{ filter }],
    chain: { id: CHAIN_ID, name: "main" },
    childAddresses: new Map(),
    syncProgress: { start: { number: "0x0" }, finalized: last, current: last },
    cachedIntervals: new Map([[filter, [{ intervals: [[0, LAST_BLOCK]] }]]]),
    from: encodeCheckpoint({ ...ZERO_CHECKPOINT, blockNumber: 0n }),
    to: encodeCheckpoint({ ...MAX_CHECKPOINT, blockNumber: BigInt(LAST_BLOCK) }),
    limit: LAST_BLOCK + 1,
    isCatchup: true,
  });
  const taken: number[] = [];
  const ends: number[] = [];
  for await (const { events, checkpoint } of batches) {
    taken.push(...events.map(({ log }) => log.blockNumber));
    const end = Number(decodeCheckpoint(checkpoint).blockNumber);
    expect(taken).toEqual(Array.from({ length: end + 1 }, (_, number) => number));
    ends.push(end);
  }
  expect(ends.length).toBeGreaterThan(1);
  expect(ends.at(-1)).toBe(LAST_BLOCK);
});
