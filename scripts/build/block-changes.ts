/** What the indexer's bundle changes in how Ponder writes a live block: few statements, few round trips, few triggers. */
import { join } from "node:path";
import { projectRoot } from "../../lib/project-root.ts";
import type { Change } from "./text-changes.ts";

/**
 * Ponder's triggers record each changed row for a reorganisation, with a placeholder for the block's checkpoint. At the end of each
 * block Ponder would build an update for every table, which replaces it. Here the triggers take the checkpoint from a setting of the
 * transaction. The column may not be null, so a write outside of a block is refused. They run once for a statement, not for each row.
 */
const CHECKPOINT_SETTING = "indexer.checkpoint";
const recordRows: Change = {
  text: `IF TG_OP = 'INSERT' THEN
  INSERT INTO "\${schema}"."\${getReorgTableName(table)}" (\${columnNames.join(",")}, operation, checkpoint)
  VALUES (\${columnNames.map((name) => \`NEW.\${name}\`).join(",")}, 0, '\${MAX_CHECKPOINT_STRING}');
  ELSIF TG_OP = 'UPDATE' THEN
  INSERT INTO "\${schema}"."\${getReorgTableName(table)}" (\${columnNames.join(",")}, operation, checkpoint)
  VALUES (\${columnNames.map((name) => \`OLD.\${name}\`).join(",")}, 1, '\${MAX_CHECKPOINT_STRING}');
  ELSIF TG_OP = 'DELETE' THEN
  INSERT INTO "\${schema}"."\${getReorgTableName(table)}" (\${columnNames.join(",")}, operation, checkpoint)
  VALUES (\${columnNames.map((name) => \`OLD.\${name}\`).join(",")}, 2, '\${MAX_CHECKPOINT_STRING}');
  END IF;`,
  becomes: `INSERT INTO "\${schema}"."\${getReorgTableName(table)}" (\${columnNames.join(",")}, operation, checkpoint)
  SELECT \${columnNames.join(",")}, CASE TG_OP WHEN 'INSERT' THEN 0 WHEN 'UPDATE' THEN 1 ELSE 2 END,
    nullif(current_setting('${CHECKPOINT_SETTING}', true), '')
  FROM changed;`,
};
/** A trigger that sees a statement's rows is for one operation. */
const operations = [
  ["insert", "NEW"],
  ["update", "OLD"],
  ["delete", "OLD"],
] as const;
const TRIGGER = `\${getReorgTriggerName()}`;
const TABLE = `"\${schema}"."\${chainId === undefined ? getTableName(table) : getPartitionName(table, chainId)}"`;
const EXECUTE = `EXECUTE PROCEDURE "\${schema}".\${getReorgProcedureName(table)};`;
const createTriggers: Change = {
  text: `CREATE OR REPLACE TRIGGER "${TRIGGER}"
  AFTER INSERT OR UPDATE OR DELETE ON ${TABLE}
  FOR EACH ROW ${EXECUTE}`,
  becomes: operations
    .map(
      ([operation, version]) => `CREATE OR REPLACE TRIGGER "${TRIGGER}_${operation}"
  AFTER ${operation} ON ${TABLE} REFERENCING ${version} TABLE AS changed
  FOR EACH STATEMENT ${EXECUTE}`,
    )
    .join("\n"),
};
const dropTriggers: Change = {
  text: `DROP TRIGGER IF EXISTS "${TRIGGER}" ON ${TABLE}`,
  becomes: operations
    .map(([operation]) => `DROP TRIGGER IF EXISTS "${TRIGGER}_${operation}" ON ${TABLE};`)
    .join("\n"),
};

/** The setting, and the checkpoint of the block, which Ponder would write after the rows by a statement of its own: one round trip. */
const beginWithCheckpoint: Change = {
  text: "await indexing.processRealtimeEvents({ events });",
  becomes: `await tx.wrap({ label: "update_checkpoints" }, (tx) => tx.execute(
                                \`select set_config('${CHECKPOINT_SETTING}', '\${checkpoint}', true);
                                update "\${namespaceBuild.schema}"._ponder_checkpoint
                                set latest_checkpoint = '\${event.checkpoint}' where chain_name = '\${event.chain.name}'\`), context);
                            await indexing.processRealtimeEvents({ events });`,
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
const rowsModule = join(projectRoot, "scripts", "indexer", "write-rows.ts");
const sendingModule = join(projectRoot, "scripts", "indexer", "send-together.ts");
/** What the changed text imports, by a name that is the same wherever the project lies. */
export const changedImports = {
  "indexer-write-rows": rowsModule,
  "indexer-send-together": sendingModule,
} as const;
const writing = (rows: string, replace: boolean) =>
  `await qb.wrap(() => qb.$client.query(writeRows(table, ${rows}.map(({ row }) => row), {
                            nameOf: (column) => getColumnCasing(column, "snake_case"),
                            primaryKeyOf: () => getPrimaryKeyColumns(table).map(({ sql }) => sql),
                            replace: ${replace},
                        })), context);`;
const preparedWrites: readonly Change[] = [
  {
    text: 'import copy from "pg-copy-streams";',
    becomes: `import copy from "pg-copy-streams";\nimport { sendTogether } from "indexer-send-together";\nimport { writeRows } from "indexer-write-rows";`,
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
 * Ponder would wait for each answer before it sends a block's next rows. The savepoint needs no release: it ends with the transaction.
 * It is sent by the driver itself, at once: drizzle would send it after the rows.
 */
const writeTogether: Change = {
  text: `await qb.wrap((db) => db.execute("SAVEPOINT flush"), context);
                    await promiseAllSettledWithThrow(Array.from(cache.keys()).map(flushTable));
                    await qb.wrap((db) => db.execute("RELEASE flush"), context);`,
  // More rows of a table go by COPY, which cannot be pipelined.
  becomes: `const isSmall = (buffer) => Array.from(buffer.values()).every(({ size }) => size <= LOW_BATCH_THRESHOLD);
                    await sendTogether(qb.$client, { pipelined: isSmall(insertBuffer) && isSmall(updateBuffer) }, () =>
                        promiseAllSettledWithThrow([
                            qb.wrap(() => qb.$client.query("SAVEPOINT flush"), context),
                            ...Array.from(cache.keys()).map(flushTable),
                        ]));`,
};

/** The changes by Ponder's module. */
export const blockChanges = {
  "indexing-store/cache.js": [...preparedWrites, writeTogether],
  "database/actions.js": [recordRows, createTriggers, dropTriggers],
  "runtime/multichain.js": [beginWithCheckpoint, noSecondUpdate, noUpdatesOfRecords],
} as const;
