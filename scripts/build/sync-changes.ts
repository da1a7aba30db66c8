/**
 * What the indexer's bundle changes in how Ponder stores the blocks, transactions and logs that it has fetched, in schema `ponder_sync`, and
 * reads them for the projections.
 */
import type { Change } from "./text-changes.ts";

/** Writes rows by a prepared statement; see `write-rows.ts`. */
const storeRows = (table: string, row: string, encode: string, conflict: string): Change => ({
  text: `(db) => db
                    .insert(PONDER_SYNC.${table})
                    .values(${table}
                    .slice(i, i + batchSize)
                    .map((${row}) => ${encode}({ ${row}, chainId })))
                    .onConflictDoNothing({
                    target: ${conflict},
                }), context);`,
  becomes: `() => qb.$client.query(writeRows(PONDER_SYNC.${table}, ${table}
                    .slice(i, i + batchSize)
                    .map((${row}) => ${encode}({ ${row}, chainId })), "keep")), context);`,
});
const keyOfThree = (table: string, index: string) => `[
                        PONDER_SYNC.${table}.chainId,
                        PONDER_SYNC.${table}.blockNumber,
                        PONDER_SYNC.${table}.${index},
                    ]`;
const IMPORT = 'import * as PONDER_SYNC from "./schema.js";';
const preparedWrites: readonly Change[] = [
  { text: IMPORT, becomes: `${IMPORT}\nimport { writeRows } from "indexer-write-rows";` },
  storeRows("blocks", "block", "encodeBlock", "[PONDER_SYNC.blocks.chainId, PONDER_SYNC.blocks.number]"),
  storeRows(
    "transactions",
    "transaction",
    "encodeTransaction",
    keyOfThree("transactions", "transactionIndex"),
  ),
  storeRows("logs", "log", "encodeLog", keyOfThree("logs", "logIndex")),
];

/**
 * Ponder would read as many transactions as logs, and then drop the transactions of later blocks than its last log's: four of five. Here
 * logs are read first, and blocks and transactions up to the last log's block.
 *
 * Ponder would select logs by all filters: sixty conditions, for which Postgres expects so few rows that it sorts all remaining logs for
 * each batch. Here they are selected by the filters' addresses. Ponder compares each log with the filters afterwards.
 */
const LOGS_QUERY = `const logsQuery = qb.raw
                .select({
                blockNumber: PONDER_SYNC.logs.blockNumber,
                logIndex: PONDER_SYNC.logs.logIndex,
                transactionIndex: PONDER_SYNC.logs.transactionIndex,
                address: PONDER_SYNC.logs.address,
                topic0: PONDER_SYNC.logs.topic0,
                topic1: PONDER_SYNC.logs.topic1,
                topic2: PONDER_SYNC.logs.topic2,
                topic3: PONDER_SYNC.logs.topic3,
                data: PONDER_SYNC.logs.data,
            })
                .from(PONDER_SYNC.logs)
                .where(and(eq(PONDER_SYNC.logs.chainId, BigInt(chainId)), gte(PONDER_SYNC.logs.blockNumber, BigInt(fromBlock)), lte(PONDER_SYNC.logs.blockNumber, BigInt(toBlock)), or(...logFilters.map((filter) => logFilter(filter)))))
                .orderBy(asc(PONDER_SYNC.logs.blockNumber), asc(PONDER_SYNC.logs.logIndex))
                .limit(limit);`;
const OF_FILTERS = "or(...logFilters.map((filter) => logFilter(filter)))";
const OF_ADDRESSES = `addresses.every((address) => typeof address === "string")
                ? inArray(PONDER_SYNC.logs.address, [...new Set(addresses)])
                : ${OF_FILTERS}`;
const READ_LOGS = `shouldQueryLogs
                    ? qb.wrap({ label: "select_logs" }, () => logsQuery, context)
                    : []`;
const FIRST_QUERY = "const blockSelect = {";
const logsFirst: readonly Change[] = [
  {
    text: FIRST_QUERY,
    becomes: `const addresses = logFilters.flatMap(({ address }) => address);
            ${LOGS_QUERY.replace(OF_FILTERS, OF_ADDRESSES)}
            const logsRows = await (${READ_LOGS});
            if (logsRows.length === limit) toBlock = Number(logsRows[limit - 1].blockNumber);
            ${FIRST_QUERY}`,
  },
  { text: `${LOGS_QUERY}\n            let endClock`, becomes: "let endClock" },
  { text: `${READ_LOGS},\n`, becomes: "" },
  {
    text: "transactionReceiptsRows, logsRows, tracesRows,] =",
    becomes: "transactionReceiptsRows, tracesRows,] =",
  },
];

/**
 * The columns of blocks and transactions that are read. Ponder would read all, such as a transaction's input, until each event of the
 * configuration has come a hundred times, and some hardly ever do. Our projections read only columns that Ponder itself needs; for another
 * column Ponder would read the events again.
 */
const ALL_OF_LOGS = "include: defaultLogFilterInclude.concat(source.includeTransactionReceipts";
const ALL_OF_BLOCKS = "include: defaultBlockFilterInclude,";
const IMPORTED = "import { defaultBlockFilterInclude, defaultLogFilterInclude,";
const neededColumns: readonly Change[] = [
  { text: IMPORTED, becomes: IMPORTED.replaceAll("default", "required") },
  { text: ALL_OF_LOGS, becomes: ALL_OF_LOGS.replace("default", "required") },
  { text: ALL_OF_BLOCKS, becomes: ALL_OF_BLOCKS.replace("default", "required") },
];

/**
 * If a batch ended at the block before a backfill's last one, Ponder would record the last one as indexed too: after a crash before the
 * next batch its events would be missing for good.
 */
const untilLastBlock: Change = { text: "if (cursor >= toBlock) {", becomes: "if (cursor > toBlock) {" };

/** The changes by Ponder's module. */
export const syncChanges = {
  "sync-store/index.js": [...preparedWrites, ...logsFirst],
  "build/config.js": neededColumns,
  "runtime/historical.js": [untilLastBlock],
} as const;
