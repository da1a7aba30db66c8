/** What the indexer's bundle changes in how Ponder writes a live block: few statements, few round trips. */
import type { OnConflict } from "../indexer/write-rows.ts";
import { CHECKPOINT_SETTING } from "./reorg-changes.ts";
import type { Change } from "./text-changes.ts";

/**
 * Sends in one round trip: the setting with the block's checkpoint; the checkpoint's row, which Ponder would write after the rows; and the
 * look-ups of the projections, which Ponder would send before the transaction.
 */
const beginTogether: readonly Change[] = [
  { text: "indexingCache.prefetch({ events: event.events }),", becomes: "" },
  {
    text: "await indexing.processRealtimeEvents({ events });",
    becomes: `await sendTogether(tx.$client, { pipelined: true }, () => [
                                tx.wrap({ label: "update_checkpoints" }, (tx) => tx.execute(
                                    \`select set_config('${CHECKPOINT_SETTING}', '\${checkpoint}', true);
                                    update "\${namespaceBuild.schema}"._ponder_checkpoint
                                    set latest_checkpoint = '\${event.checkpoint}' where chain_name = '\${event.chain.name}'\`), context),
                                indexingCache.prefetch({ events }),
                            ]);
                            await indexing.processRealtimeEvents({ events });`,
  },
  {
    text: 'import { eq, getTableName, isTable, isView, sql } from "drizzle-orm";',
    becomes:
      'import { eq, getTableName, isTable, isView, sql } from "drizzle-orm";\nimport { sendTogether } from "indexer-send-together";',
  },
];
/** A statement that fails may leave none behind that is not answered yet. */
const awaitAllReads: Change = {
  text: "await Promise.all(Array.from(prediction.entries())",
  becomes: "await promiseAllSettledWithThrow(Array.from(prediction.entries())",
};
const UPDATE_CHECKPOINT = `await tx.wrap({ label: "update_checkpoints" }, (db) => db
                            .update(PONDER_CHECKPOINT)`;
/** A block with events has its checkpoint already. */
const noSecondUpdate: Change = {
  text: UPDATE_CHECKPOINT,
  becomes: `if (event.events.length === 0) ${UPDATE_CHECKPOINT}`,
};
const noUpdatesOfRecords: Change = {
  text: "await Promise.all(tables.map((table) => commitBlock(tx, { table, checkpoint, preBuild }, context)));",
  becomes: "",
};

/** Writes up to 20 rows of a table by a prepared statement; see `write-rows.ts`. */
const writing = (rows: string, onConflict: OnConflict) =>
  `await qb.wrap(() => qb.$client.query(writeRows(table, ${rows}.map(({ row }) => row), "${onConflict}")), context);`;
const preparedWrites: readonly Change[] = [
  {
    text: 'import copy from "pg-copy-streams";',
    becomes: `import copy from "pg-copy-streams";\nimport { sendTogether } from "indexer-send-together";\nimport { writeRows } from "indexer-write-rows";`,
  },
  {
    text: "await qb.wrap((db) => db.insert(table).values(insertValues.map(({ row }) => row)), context);",
    becomes: writing("insertValues", "fail"),
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
    becomes: writing("updateValues", "replace"),
  },
];

/**
 * Ponder would wait for each answer before it sends a block's next rows. The savepoint needs no release: it ends with the transaction.
 * It is sent by the driver itself, at once: drizzle would send it after the rows.
 */
const writeTogether: Change = {
  text: `await qb.wrap((db) => db.execute("SAVEPOINT flush"), context);
                    await promiseAllSettledWithThrow(Array.from(cache.keys()).map(flushTable));
                    await qb.wrap((db) => db.execute("RELEASE flush"), context);`,
  // More rows of a table go by COPY, which cannot be pipelined.
  becomes: `const isSmall = (buffer) => Array.from(buffer.values()).every(({ size }) => size <= LOW_BATCH_THRESHOLD);
                    await sendTogether(qb.$client, { pipelined: isSmall(insertBuffer) && isSmall(updateBuffer) }, () => [
                        qb.wrap(() => qb.$client.query("SAVEPOINT flush"), context),
                        ...Array.from(cache.keys()).map(flushTable),
                    ]);`,
};

/** The changes by Ponder's module. */
export const blockChanges = {
  "indexing-store/cache.js": [...preparedWrites, writeTogether, awaitAllReads],
  "runtime/multichain.js": [...beginTogether, noSecondUpdate, noUpdatesOfRecords],
} as const;
