/** What the indexer's bundle changes in Ponder's text. */

import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import { ponderManifest } from "../indexer/schema-name.ts";
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
 * Ponder would write a row that a projection inserts and then changes twice: the changed row as an insert, then as an update, for
 * which it fills a temporary table. A row that is not written yet is only inserted.
 */
const insertOnce: Change = {
  text: "if (isUpdate) {",
  becomes: "if (isUpdate && !insertBuffer.get(table).has(ck)) {",
};

/**
 * Ponder's triggers record each changed row for a reorganisation, with a placeholder for the block's checkpoint. At the end of each
 * block Ponder would build an update for every table, which replaces it. Here the triggers take the checkpoint from a setting of the
 * transaction, which each block begins with. The column may not be null, so a write outside of a block is refused.
 */
const PLACEHOLDER = `'\${MAX_CHECKPOINT_STRING}'`;
const CHECKPOINT_SETTING = "indexer.checkpoint";
const recordWithCheckpoint = [0, 1, 2].map(
  (operation): Change => ({
    text: `, ${operation}, ${PLACEHOLDER});`,
    becomes: `, ${operation}, nullif(current_setting('${CHECKPOINT_SETTING}', true), ''));`,
  }),
);
const beginWithCheckpoint: Change = {
  text: "await indexing.processRealtimeEvents({ events });",
  becomes: `await tx.wrap({ label: "set_checkpoint" }, (tx) => tx.execute(
                                \`select set_config('${CHECKPOINT_SETTING}', '\${checkpoint}', true)\`), context);
                            await indexing.processRealtimeEvents({ events });`,
};
const endWithoutUpdates: Change = {
  text: "await Promise.all(tables.map((table) => commitBlock(tx, { table, checkpoint, preBuild }, context)));",
  becomes: "",
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

/** Writes up to 20 rows of a table by a prepared statement; see `write-rows.ts`. */
const rowsModule = join(projectRoot, "scripts", "indexer", "write-rows.ts");
/** What the changed text imports, by a name that is the same wherever the project lies. */
export const changedImports = { "indexer-write-rows": rowsModule } as const;
const writing = (rows: string, replace: boolean) =>
  `await qb.wrap(() => qb.$client.query(writeRows(table, ${rows}.map(({ row }) => row), {
                            nameOf: (column) => getColumnCasing(column, "snake_case"),
                            primaryKeyOf: () => getPrimaryKeyColumns(table).map(({ sql }) => sql),
                            replace: ${replace},
                        })), context);`;
const preparedWrites: readonly Change[] = [
  {
    text: 'import copy from "pg-copy-streams";',
    becomes: `import copy from "pg-copy-streams";\nimport { writeRows } from "indexer-write-rows";`,
  },
  {
    text: "await qb.wrap((db) => db.insert(table).values(insertValues.map(({ row }) => row)), context);",
    becomes: writing("insertValues", false),
  },
  {
    text: `await qb.wrap((db) => db
                            .insert(table)
                            .values(updateValues.map(({ row }) => row))
                            .onConflictDoUpdate({
                            // @ts-ignore
                            target: primaryKeys.map(({ js }) => table[js]),
                            set: Object.fromEntries(Object.entries(getTableColumns(table)).map(([columnName, column]) => [
                                columnName,
                                sql.raw(\`excluded."\${getColumnCasing(column, "snake_case")}"\`),
                            ])),
                        }), context);`,
    becomes: writing("updateValues", true),
  },
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

/** Ponder's compiled modules. */
export const ponder = join(dirname(ponderManifest), "dist", "esm");

export const ponderChanges: PackageChanges = {
  name: "Ponder",
  folder: ponder,
  files: {
    "sync-realtime/index.js": [ignoreKnownHeads],
    "sync-realtime/bloom.js": [hashOnce],
    "indexing-store/cache.js": [insertOnce, ...preparedWrites],
    "indexing-store/utils.js": [columnsOnceOf, columnsOnce],
    "drizzle/index.js": [primaryKeyOnce],
    "database/actions.js": [...recordWithCheckpoint, noLiveQueryTriggers],
    "runtime/multichain.js": [noLiveQueryTable, beginWithCheckpoint, endWithoutUpdates],
  },
};

/** A hash of all changes: another change makes another build, with a schema of its own. */
export const changesHash = (): string =>
  createHash("sha256")
    .update(JSON.stringify(ponderChanges.files))
    .update(readFileSync(rowsModule))
    .digest("hex");
