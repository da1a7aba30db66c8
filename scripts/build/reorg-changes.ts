/** What the indexer's bundle changes in how Ponder records rows for a reorganisation or a crash, and reverts them: few records. */
import type { Change } from "./text-changes.ts";

/**
 * Ponder's triggers record each changed row, with a placeholder for the block's checkpoint. At the end of each block Ponder would
 * build an update for every table, which replaces it. Here the triggers take the checkpoint from this setting of the transaction. The
 * column may not be null, so a change outside of a block is refused where it is recorded. They run once for a statement, not for each row.
 */
export const CHECKPOINT_SETTING = "indexer.checkpoint";
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

/**
 * An insertion is not recorded if the row has the number of its block: a revert finds the row by an index on that number. Only
 * `replaced_policy` differs: its rows keep the block in which the policy was sold.
 */
const BLOCK_COLUMN = "block_number";
const MOVED_ROWS = "replaced_policy";
const helpers: Change = {
  text: "const getRevertSql = ({ table }) => {",
  becomes: `const namesItsBlock = (table) => getTableName(table) !== "${MOVED_ROWS}" && Object.values(getTableColumns(table))
    .some((column) => getColumnCasing(column, "snake_case") === "${BLOCK_COLUMN}");
const isOfKeptBlock = (checkpoint) => \`"${BLOCK_COLUMN}" <= \${decodeCheckpoint(checkpoint).blockNumber}\`;
const getRevertSql = ({ table, checkpoint }) => {`,
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
  becomes: `\${[${operations
    .map(
      ([operation, version]) => `\`CREATE OR REPLACE TRIGGER "${TRIGGER}_${operation}"
  AFTER ${operation} ON ${TABLE} REFERENCING ${version} TABLE AS changed
  FOR EACH STATEMENT ${EXECUTE}\``,
    )
    .join(", ")}].slice(namesItsBlock(table) ? 1 : 0).join("\\n")}`,
};
const dropTriggers: Change = {
  text: `DROP TRIGGER IF EXISTS "${TRIGGER}" ON ${TABLE}`,
  becomes: operations
    .map(([operation]) => `DROP TRIGGER IF EXISTS "${TRIGGER}_${operation}" ON ${TABLE};`)
    .join("\n"),
};

const ofSameKey = `\${primaryKeyColumns.map(({ sql }) => \`t."\${sql}" = reverted3."\${sql}"\`).join("AND ")}`;
const keyOf = (table: string) => `\${primaryKeyColumns.map(({ sql }) => \`${table}."\${sql}"\`).join(", ")}`;
/**
 * Deletes the rows of reverted blocks. A policy that took an older one's key in such a block is not deleted: its oldest record is of a
 * kept block, and restores the older policy. Postgres hashes the keys of `NOT IN`; `NOT EXISTS` would compare all with all.
 */
const deleteInserted: Change = {
  text: `WHERE EXISTS (
    SELECT * FROM reverted3
    WHERE ${ofSameKey}
    AND OPERATION = 0
  )`,
  becomes: `WHERE \${namesItsBlock(table)
        ? \`NOT t.\${isOfKeptBlock(checkpoint)} AND (${keyOf("t")}) NOT IN (SELECT ${keyOf("reverted3")} FROM reverted3 WHERE \${isOfKeptBlock(checkpoint)})\`
        : \`EXISTS (SELECT FROM reverted3 WHERE ${ofSameKey} AND operation = 0)\`}`,
};
const restoreChanged: Change = {
  text: "WHERE operation = 1 OR operation = 2",
  becomes: `WHERE operation <> 0\${namesItsBlock(table) ? \` AND \${isOfKeptBlock(checkpoint)}\` : ""}`,
};

/** Ponder's text from the records of a reorganisation on. */
const REVERTED = `WHERE \${minOperationId} IS NOT NULL AND operation_id >= \${minOperationId}
  RETURNING * 
), reverted2 AS (
  SELECT \${primaryKeyColumns.map(({ sql }) => \`"\${sql}"\`).join(", ")}, MIN(operation_id) AS operation_id FROM reverted1
  GROUP BY \${primaryKeyColumns.map(({ sql }) => \`"\${sql}"\`).join(", ")}
), reverted3 AS (
  SELECT \${Object.values(getTableColumns(table))
                .map((column) => \`reverted1."\${getColumnCasing(column, "snake_case")}"\`)
                .join(", ")}, reverted1.operation FROM reverted2
  INNER JOIN reverted1
  ON \${primaryKeyColumns.map(({ sql }) => \`reverted2."\${sql}" = reverted1."\${sql}"\`).join("AND ")}
  AND reverted2.operation_id = reverted1.operation_id
), \${getRevertSql({ table`;
const revertTo: Change = { text: REVERTED, becomes: `${REVERTED}, checkpoint` };

const RECOVER = "export const crashRecovery = async (qb, { table";
const recoverAt: Change = { text: RECOVER, becomes: `${RECOVER}, checkpoint` };
const recoverTo: Change = {
  text: `), \${getRevertSql({ table })}\`), context);`,
  becomes: `), \${getRevertSql({ table, checkpoint })}\`), context);`,
};
const RECOVER_EACH = "await crashRecovery(tx, { table";
/** The index has one chain; Ponder's reverts of several chains are not reached, and lack the checkpoint. */
const recoverEach: Change = {
  text: RECOVER_EACH,
  becomes: `${RECOVER_EACH}, checkpoint: crashRecoveryCheckpoint[0].checkpoint`,
};

/** The changes by Ponder's module. */
export const reorgChanges = {
  "database/actions.js": [
    recordRows,
    helpers,
    createTriggers,
    dropTriggers,
    deleteInserted,
    restoreChanged,
    revertTo,
    recoverAt,
    recoverTo,
  ],
  "database/index.js": [recoverEach],
} as const;
