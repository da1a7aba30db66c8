/** What the indexer's bundle changes in how Ponder's cache keeps the rows of the index in memory, and writes them in a backfill. */
import type { Change } from "./text-changes.ts";

/**
 * Ponder would write a row that a projection inserts and then changes twice: the changed row as an insert, then as an update, for
 * which it fills a temporary table. A row that is not written yet is only inserted.
 */
const insertOnce: Change = {
  text: "if (isUpdate) {",
  becomes: "if (isUpdate && !insertBuffer.get(table).has(ck)) {",
};

/**
 * Ponder would keep each row in memory, in case a projection looks for it, and before a live block it would go through all tables for each
 * event, for what to read ahead. No projection looks for the rows of most tables. Here a table keeps all its rows if its first look-up comes
 * before its first rows are written. The rows of any other are read from the database: before a batch those that Ponder predicts, the rest
 * one by one. So a projection that looks for rows of earlier transactions should do so before it first inserts into that table.
 */
const needsNoReading = "(cache.get(table).isCacheComplete || !cache.get(table).isLookedFor)";
const GET = "async get({ table, key }) {";
const keepLookedFor: readonly Change[] = [
  { text: "diskReads: 0,", becomes: "diskReads: 0,\n            isLookedFor: false," },
  { text: GET, becomes: `${GET}\n            cache.get(table).isLookedFor = true;` },
  {
    text: "for (const [key, entry] of insertBuffer.get(table)) {",
    becomes: `if (!tableCache.isLookedFor) tableCache.isCacheComplete = false;
                    else for (const [key, entry] of insertBuffer.get(table)) {`,
  },
  {
    text: "if (tables.every((table) => cache.get(table).isCacheComplete)) {",
    becomes: `if (tables.every((table) => ${needsNoReading})) {`,
  },
  {
    text: `for (const table of tables) {
                        if (cache.get(table).isCacheComplete)`,
    becomes: `for (const table of tables) {
                        if (${needsNoReading})`,
  },
];

/** Ponder would turn all rows of all tables into text before it sends the first. Here the text is made in parts, as Postgres takes them. */
const ROWS_OF_A_PART = 64;
const inParts = (rows: string): Change => ({
  text: `const text = getCopyText(table, ${rows}.map(({ row }) => row));
                        await new Promise(setImmediate);`,
  becomes: `const text = partsOf(table, ${rows});`,
});
const IMPORT = "import { dedupe } from '../utils/dedupe.js';";
const copyInParts: readonly Change[] = [
  { text: IMPORT, becomes: `${IMPORT}\nimport { pipeline } from "node:stream/promises";` },
  {
    text: "export const getCopyHelper = ",
    becomes: `function* partsOf(table, entries) {
    for (let begin = 0; begin < entries.length; begin += ${ROWS_OF_A_PART}) {
        yield getCopyText(table, entries.slice(begin, begin + ${ROWS_OF_A_PART}).map(({ row }) => row)) + "\\n";
    }
}
export const getCopyHelper = `,
  },
  {
    text: `await new Promise((resolve, reject) => {
                copyStream.on("finish", resolve);
                copyStream.on("error", reject);
                copyStream.write(text);
                copyStream.end();
            })`,
    becomes: 'await pipeline(typeof text === "string" ? [text] : text, copyStream)',
  },
  inParts("insertValues"),
  inParts("updateValues"),
];

/**
 * Ponder would find out anew for each row which columns its table has and which are the primary key: the latter for each row
 * that it reads before a block.
 */
const columnsOnce: Change = {
  text: "for (const [columnName, column] of Object.entries(getTableColumns(table))) {",
  becomes: "for (const [columnName, column] of columnsOf(table)) {",
};
const columnsOnceOf: Change = {
  text: "export const normalizeRow = ",
  becomes: `const knownColumns = new WeakMap();
const columnsOf = (table) => {
    if (!knownColumns.has(table)) knownColumns.set(table, Object.entries(getTableColumns(table)));
    return knownColumns.get(table);
};
export const normalizeRow = `,
};
const primaryKeyOnce: Change = {
  text: "export const getPrimaryKeyColumns = (table) => {",
  becomes: `const knownPrimaryKeys = new WeakMap();
export const getPrimaryKeyColumns = (table) => {
    if (!knownPrimaryKeys.has(table)) knownPrimaryKeys.set(table, findPrimaryKeyColumns(table));
    return knownPrimaryKeys.get(table);
};
const findPrimaryKeyColumns = (table) => {`,
};

/** The changes by Ponder's module. */
export const cacheChanges = {
  "indexing-store/cache.js": [insertOnce, ...keepLookedFor, ...copyInParts],
  "indexing-store/utils.js": [columnsOnceOf, columnsOnce],
  "drizzle/index.js": [primaryKeyOnce],
} as const;
