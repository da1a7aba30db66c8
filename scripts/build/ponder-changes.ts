/** What the indexer's bundle changes in Ponder's text. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { ponderManifest } from "../indexer/schema-name.ts";
import { blockChanges, changedImports } from "./block-changes.ts";
import { reorgChanges } from "./reorg-changes.ts";
import type { Change, PackageChanges } from "./text-changes.ts";

/** Where Ponder compares the height of a new head with its own: it takes a head that is not higher for a reorganisation. */
const HEIGHT_CHECK = "if (hexToNumber(latestBlock.number) >= hexToNumber(block.number)) {";
/**
 * Ponder polls without waiting for the answer before, so one may come late, and a node behind a load balancer may be behind.
 * Neither takes blocks back: the head is one of the blocks that Ponder has. After a reorganisation it has another hash.
 */
const ignoreKnownHeads: Change = {
  text: HEIGHT_CHECK,
  becomes: `if (unfinalizedBlocks.some(({ hash }) => hash === block.hash)) {
            blockCallback?.(false);
            return;
        }
        ${HEIGHT_CHECK}`,
};

/**
 * The head is written from the newest block at the start on. The chain may then become shorter, or another node may be behind: Ponder would
 * index the blocks below that height without the head, and readers would see their rows with an older one.
 */
const headFrom = (number: string) =>
  `for (const filter of blockFilters) filter.fromBlock = Math.min(filter.fromBlock ?? 0, ${number});`;
const REORGANISED = `return {
            type: "reorg",
            block: commonAncestor,`;
const RECEIVED = `async *sync(block, blockCallback) {
            try {`;
const keepHead: readonly Change[] = [
  {
    text: REORGANISED,
    becomes: `${headFrom("hexToNumber(commonAncestor.number) + 1")}\n        ${REORGANISED}`,
  },
  { text: RECEIVED, becomes: `${RECEIVED}\n                ${headFrom("hexToNumber(block.number)")}` },
];

/**
 * Ponder would write a row that a projection inserts and then changes twice: the changed row as an insert, then as an update, for
 * which it fills a temporary table. A row that is not written yet is only inserted.
 */
const insertOnce: Change = {
  text: "if (isUpdate) {",
  becomes: "if (isUpdate && !insertBuffer.get(table).has(ck)) {",
};

/** For live queries over HTTP, which the indexer does not serve, Ponder makes a table in each block, and triggers on each table. */
const CREATE_TRIGGERS =
  "export const createLiveQueryTriggers = async (qb, { namespaceBuild, tables, chainId, }, context) => {";
const noLiveQueryTriggers: Change = { text: CREATE_TRIGGERS, becomes: `${CREATE_TRIGGERS}\n    return;` };
const noLiveQueryTable: Change = {
  text: `await tx.wrap((tx) => tx.execute(\`CREATE TEMP TABLE \${getLiveQueryTempTableName()} (table_name TEXT PRIMARY KEY) ON COMMIT DROP\`), context);`,
  becomes: "",
};

/**
 * Whether a block may have events is looked up in its bloom filter, where an address or a topic stands as three bits of its hash.
 * Ponder would hash those of all filters anew for each block, and parse the bloom filter for each.
 */
const hashOnce: Change = {
  text: `export const isInBloom = (_bloom, input) => {
    const bloom = hexToBytes(_bloom);
    const hash = hexToBytes(keccak256(input));`,
  becomes: `const hashes = new Map();
const hashOf = (input) => {
    const known = hashes.get(input);
    if (known !== undefined) return known;
    if (hashes.size >= 10_000) hashes.clear();
    const hash = keccak256(input, "bytes");
    hashes.set(input, hash);
    return hash;
};
let parsed = { hex: undefined, bytes: undefined };
const bytesOf = (hex) => {
    if (parsed.hex !== hex) parsed = { hex, bytes: hexToBytes(hex) };
    return parsed.bytes;
};
export const isInBloom = (_bloom, input) => {
    const bloom = bytesOf(_bloom);
    const hash = hashOf(input);`,
};

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

/** Ponder's compiled modules. */
export const ponder = join(dirname(ponderManifest), "dist", "esm");

export const ponderChanges: PackageChanges = {
  name: "Ponder",
  folder: ponder,
  files: {
    "sync-realtime/index.js": [ignoreKnownHeads, ...keepHead],
    "sync-realtime/bloom.js": [hashOnce],
    "indexing-store/cache.js": [insertOnce, ...blockChanges["indexing-store/cache.js"]],
    "indexing-store/utils.js": [columnsOnceOf, columnsOnce],
    "drizzle/index.js": [primaryKeyOnce],
    "database/actions.js": [...reorgChanges["database/actions.js"], noLiveQueryTriggers],
    "database/index.js": reorgChanges["database/index.js"],
    "runtime/multichain.js": [...blockChanges["runtime/multichain.js"], noLiveQueryTable],
  },
};

/** A hash of all changes: another change makes another build, with a schema of its own. */
export function changesHash(): string {
  const hash = createHash("sha256").update(JSON.stringify(ponderChanges.files));
  for (const module of Object.values(changedImports)) hash.update(readFileSync(module));
  return hash.digest("hex");
}
