/**
 * What this proves: with our changes Ponder stores the same blocks, transactions and logs as without, and makes the same events of them; and
 * it records a block as indexed only with the block's events.
 */
import fc from "fast-check";
import type pg from "pg";
import { beforeAll, expect, test } from "vitest";
import { z } from "zod";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { loadPonder, poolFactory } from "./support/ponder-modules.ts";

const CHAIN_ID = 8453;
const LAST_BLOCK = 40;
type Hex = `0x${string}`;
type Row = Readonly<Record<string, unknown>>;
type LogEvent = { readonly log: { readonly blockNumber: number; readonly logIndex: number } };
/** Events, and the block up to which the index is complete with them. */
type Batch = { readonly events: readonly LogEvent[]; readonly until: number };
type Stored = {
  readonly blocks: readonly Row[];
  readonly transactions: readonly Row[];
  readonly logs: readonly Row[];
};
type Read = Stored & { readonly cursor: number };

const source = `
import { Kysely, Migrator, PostgresDialect, WithSchemaPlugin } from "kysely";
import { buildEvents } from "./runtime/events.js";
import { isLogFilterMatched } from "./runtime/filter.js";
import { getLocalEventGenerator } from "./runtime/historical.js";
import { createSyncStore } from "./sync-store/index.js";
import { buildMigrationProvider } from "./sync-store/migrations.js";
import { MAX_CHECKPOINT, ZERO_CHECKPOINT, decodeCheckpoint, encodeCheckpoint } from "./utils/checkpoint.js";
export async function migrate(pool) {
  const db = new Kysely({ dialect: new PostgresDialect({ pool }), plugins: [new WithSchemaPlugin("ponder_sync")] });
  const provider = buildMigrationProvider(common.logger);
  const { error } = await new Migrator({ db, provider, migrationTableSchema: "ponder_sync" }).migrateToLatest();
  if (error) throw error;
}
export const store = (pool, { blocks, transactions, logs }) => open(pool).transaction(async (qb) => {
  const syncStore = createSyncStore({ common, qb });
  const chainId = ${CHAIN_ID};
  for (const block of blocks) await syncStore.insertBlocks({ blocks: [block], chainId });
  await syncStore.insertTransactions({ transactions, chainId });
  await syncStore.insertLogs({ logs, chainId });
});
export const read = (pool, args) => createSyncStore({ common, qb: open(pool) }).getEventData(args);
export const eventsOf = (args) => buildEvents(args);
export const isMatched = (args) => isLogFilterMatched(args);
/** Reads the events of a backfill in batches. The database has its blocks, transactions and logs already. */
export async function batchesOf(pool, { eventCallbacks, lastBlock, limit }) {
  const filters = eventCallbacks.map(({ filter }) => filter);
  const last = { number: "0x" + lastBlock.toString(16), timestamp: "0x0" };
  const blockAt = (checkpoint, number) => encodeCheckpoint({ ...checkpoint, blockNumber: BigInt(number) });
  const batches = [];
  for await (const { events, checkpoint } of getLocalEventGenerator({
    common, eventCallbacks, limit, isCatchup: true,
    chain: { id: ${CHAIN_ID}, name: "main" },
    childAddresses: new Map(),
    syncProgress: { start: { number: "0x0" }, finalized: last, current: last },
    cachedIntervals: new Map(filters.map((filter) => [filter, [{ intervals: [[0, lastBlock]] }]])),
    from: blockAt(ZERO_CHECKPOINT, 0),
    to: blockAt(MAX_CHECKPOINT, lastBlock),
    database: { syncQB: open(pool) },
  })) batches.push({ events, until: Number(decodeCheckpoint(checkpoint).blockNumber) });
  return batches;
}
`;
const exports = z.object({
  createPool: poolFactory,
  migrate: z.custom<(pool: pg.Pool) => Promise<void>>(),
  store: z.custom<(pool: pg.Pool, stored: Stored) => Promise<void>>(),
  read: z.custom<(pool: pg.Pool, args: Row) => Promise<Read>>(),
  eventsOf: z.custom<(args: Row) => readonly LogEvent[]>(),
  isMatched: z.custom<(args: { readonly filter: Row; readonly log: Row }) => boolean>(),
  batchesOf: z.custom<(pool: pg.Pool, args: Row) => Promise<readonly Batch[]>>(),
});
const files = ["sync-store/index.js", "runtime/filter.js", "runtime/historical.js"] as const;
let published: z.output<typeof exports>;
let changed: z.output<typeof exports>;

const hex = (value: number | bigint, bytes?: number): Hex => {
  const digits = value.toString(16);
  return `0x${bytes === undefined ? digits : digits.padStart(bytes * 2, "0")}`;
};
/** Addresses have letters, which a node may send as capitals. */
const address = (index: number) => hex(0xabcdef00n + BigInt(index) * 0x1111n, 20);
const inCapitals = (value: string) => value.toUpperCase().replace("0X", "0x");
const topic = (index: number) => hex(0xfedcba00n + BigInt(index) * 0x101n, 32);

const block = (number: number, note: number): Row => ({
  number: hex(number),
  timestamp: hex(1_700_000_000 + 2 * number),
  hash: hex(number + note, 32),
  parentHash: hex(number - 1, 32),
  logsBloom: hex(number, 256),
  miner: inCapitals(address(number)),
  gasUsed: hex(2n ** 256n - 1n),
  gasLimit: hex(30_000_000),
  baseFeePerGas: number % 2 === 0 ? hex(7) : undefined,
  stateRoot: hex(1, 32),
  receiptsRoot: hex(2, 32),
  transactionsRoot: hex(3, 32),
  size: hex(1_000),
  difficulty: hex(0),
  extraData: '0x"\\',
});
const transaction = (blockNumber: number, index: number): Row => ({
  blockNumber: hex(blockNumber),
  transactionIndex: hex(index),
  hash: hex(blockNumber * 1000 + index, 32),
  blockHash: hex(blockNumber, 32),
  from: inCapitals(address(index)),
  to: index % 3 === 0 ? null : address(index + 1),
  input: "0x1234",
  value: hex(10n ** 30n),
  nonce: hex(index),
  type: index % 2 === 0 ? "0x2" : "0x1",
  gas: hex(21_000),
  accessList: index % 2 === 0 ? undefined : [{ address: address(1), storageKeys: [] }],
});
const log = (blockNumber: number, transactionIndex: number, logIndex: number, kind: number): Row => ({
  blockNumber: hex(blockNumber),
  logIndex: hex(logIndex),
  transactionIndex: hex(transactionIndex),
  blockHash: hex(blockNumber, 32),
  transactionHash: hex(blockNumber * 1000 + transactionIndex, 32),
  address: kind % 2 === 0 ? address(kind % 5) : inCapitals(address(kind % 5)),
  topics: [topic(kind % 4), topic(kind % 3)].slice(0, 1 + (kind % 2)),
  data: hex(kind, 32),
});

/** Blocks by the number of the logs of each of their transactions. */
const history = fc
  .array(fc.array(fc.array(fc.nat(20), { maxLength: 4 }), { maxLength: 4 }), {
    minLength: 1,
    maxLength: LAST_BLOCK,
  })
  .map((blocks): Stored => {
    const stored = { blocks: [] as Row[], transactions: [] as Row[], logs: [] as Row[] };
    blocks.forEach((transactions, number) => {
      if (transactions.length === 0) return;
      stored.blocks.push(block(number, 0));
      let logIndex = 0;
      transactions.forEach((kinds, index) => {
        stored.transactions.push(transaction(number, index));
        for (const kind of kinds) stored.logs.push(log(number, index, logIndex++, kind));
      });
    });
    return stored;
  });

const filter = (of: Row) => ({
  filter: { type: "log", chainId: CHAIN_ID, hasTransactionReceipt: false, include: [], ...of },
});
/** One and several addresses, with one topic and with two. Logs of address 4 are of no filter. */
const eventCallbacks = [
  filter({ address: address(0), topic0: topic(0) }),
  filter({ address: [address(1), address(2)], topic0: topic(1), fromBlock: 3 }),
  filter({ address: address(3), topic0: topic(3), topic1: topic(1) }),
  filter({ address: address(1), topic0: [topic(0), topic(2)], toBlock: 30 }),
];
/** Reads all batches of at most `limit` rows. @returns the events of all, and how many batches there were */
async function eventsOf(ponder: typeof changed, pool: pg.Pool, limit: number) {
  const events: LogEvent[] = [];
  let batches = 0;
  for (let fromBlock = 0; fromBlock <= LAST_BLOCK; batches++) {
    const filters = eventCallbacks.map(({ filter }) => filter);
    const { cursor, ...data } = await ponder.read(pool, {
      ...{ filters, fromBlock, toBlock: LAST_BLOCK, chainId: CHAIN_ID, limit },
    });
    expect(cursor).toBeGreaterThanOrEqual(fromBlock);
    const childAddresses = new Map();
    events.push(...ponder.eventsOf({ eventCallbacks, ...data, childAddresses, chainId: CHAIN_ID }));
    fromBlock = cursor + 1;
  }
  return { events, batches };
}

async function freshPool(ponder: typeof changed) {
  const pool = ponder.createPool(await freshDatabase({ empty: true }));
  atEnd(() => pool.end());
  await pool.query("create schema ponder_sync");
  await ponder.migrate(pool);
  return pool;
}
const tables = ["blocks", "transactions", "logs"] as const;
const clear = (pool: pg.Pool) =>
  pool.query(`truncate ${tables.map((name) => `ponder_sync.${name}`).join(", ")}`);
const stored = async (pool: pg.Pool) =>
  Object.fromEntries(
    await Promise.all(
      tables.map(async (name) => [
        name,
        (await pool.query(`select t::text as row from ponder_sync.${name} t order by 1`)).rows,
      ]),
    ),
  );

let ours: pg.Pool;
let theirs: pg.Pool;
beforeAll(async () => {
  published = await loadPonder("published", source, { files, exports });
  changed = await loadPonder("changed", source, { files, exports });
  [ours, theirs] = [await freshPool(changed), await freshPool(published)];
});

test("of random blocks the same rows are stored, and the same events come of them, however few rows are read at once", async () => {
  let most = 0;
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 12 }), async (data, limit) => {
      await Promise.all([clear(ours), clear(theirs)]);
      await Promise.all([changed.store(ours, data), published.store(theirs, data)]);
      const rows = await stored(ours);
      expect(rows).toEqual(await stored(theirs));
      expect(rows.logs).toHaveLength(data.logs.length);
      const { events, batches } = await eventsOf(changed, ours, limit);
      expect(events).toEqual((await eventsOf(published, theirs, limit)).events);
      most = Math.max(most, batches);
    }),
    { numRuns: 60 },
  );
  expect(most).toBeGreaterThan(5);
});

test("a batch's block is recorded as indexed only with all events up to it", async () => {
  await fc.assert(
    fc.asyncProperty(history, fc.integer({ min: 1, max: 12 }), async (data, limit) => {
      await clear(ours);
      await changed.store(ours, data);
      const all = (await eventsOf(changed, ours, 1_000)).events;
      const until = (block: number) => all.filter(({ log }) => log.blockNumber <= block);
      const lastBlock = Number(data.blocks.at(-1)?.number ?? 0);
      const batches = await changed.batchesOf(ours, { eventCallbacks, limit, lastBlock });
      const taken: LogEvent[] = [];
      for (const batch of batches) {
        taken.push(...batch.events);
        expect(taken).toEqual(expect.arrayContaining(until(batch.until)));
      }
      expect(taken).toEqual(all);
    }),
    { numRuns: 60 },
  );
});

test("an address in capitals is of the filter, and one that differs in any digit is not", () => {
  const filterOf = { address: "0x0123456789abcdef0123456789abcdef01234567", topic0: topic(1) };
  const isMatched = (of: string) =>
    changed.isMatched({ filter: filterOf, log: { blockNumber: "0x1", topics: [topic(1)], address: of } });
  const { address: own } = filterOf;
  expect(isMatched(own)).toBe(true);
  expect(isMatched(inCapitals(own))).toBe(true);
  const others = [...own]
    .map((digit, index) => own.slice(0, index) + (digit === "d" ? "e" : "d") + own.slice(index + 1))
    .slice(2);
  expect(others.filter(isMatched)).toEqual([]);
});

test("a stored log without a filter's second topic is no event of that filter", async () => {
  await clear(ours);
  const logs = [[topic(3)], [topic(3), topic(1)]].map((topics, index) => ({
    ...log(1, 0, index, 3),
    topics,
  }));
  await changed.store(ours, { blocks: [block(1, 0)], transactions: [transaction(1, 0)], logs });
  const { events } = await eventsOf(changed, ours, 10);
  expect(events.map(({ log }) => log)).toMatchObject([{ logIndex: 1 }]);
});

test("what is stored is kept when it comes again", async () => {
  await clear(ours);
  const first = { blocks: [block(1, 0)], transactions: [transaction(1, 0)], logs: [log(1, 0, 0, 0)] };
  await changed.store(ours, first);
  const rows = await stored(ours);
  await changed.store(ours, {
    blocks: [block(1, 7)],
    transactions: [transaction(1, 0)],
    logs: [log(1, 0, 0, 5)],
  });
  expect(await stored(ours)).toEqual(rows);
});
