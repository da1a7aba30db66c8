/**
 * Answers what Ponder asks in vain. At the end of each live block it sends one update per table, which gives the block's
 * checkpoint to the rows that its triggers recorded for a reorganisation. Most blocks write to few tables. An update for a
 * table to which the transaction has written nothing finds no row, so it is answered here. For live queries over HTTP, which
 * our indexer does not serve, Ponder creates a table in each block and a trigger for each row.
 */
import type { Client } from "pg";
import { interceptStatements } from "./ponder-driver.ts";

/** The table whose recorded rows the statement is for. */
const CHECKPOINT_OF =
  /^update "\w+"\."_reorg__(\w+)" set "checkpoint" = \$1 where "\w+"\."_reorg__\w+"\."checkpoint" = \$2$/;
const FOR_LIVE_QUERIES =
  /^\s*create (?:temp table live_query_tables |or replace trigger "(?:\w+_)?live_query(?:_notify)?"\s)/i;
/** The table to which a statement writes. Only Ponder's triggers write to others, and each only to its own table's record. */
const WRITES_TO = /^\s*(?:insert into|update|delete from|copy)\s+"\w+"\."(\w+)"/i;
/** Statements that write to no table of the index. The temporary ones are of Ponder's bulk updates. */
const WRITES_NOTHING =
  /^\s*(?:select |savepoint |release |rollback to |create temp table |truncate table "\w+"$|copy "\w+" from )/i;
const SEVERAL_STATEMENTS = /;\s*\S/;
const BEGINS = /^\s*begin\b/i;

/** The tables to which a connection's transaction has written; undefined when a statement may have written to any. */
export type Written = Set<string> | undefined;

/** Whether a statement is for live queries, or an update at the end of a block that finds no row. */
export function isInVain(text: string, written: Written): boolean {
  if (FOR_LIVE_QUERIES.test(text)) return true;
  const [, table] = CHECKPOINT_OF.exec(text) ?? [];
  return table !== undefined && written !== undefined && !written.has(table);
}

/** What a transaction has written after one more statement. */
export function afterStatement(text: string | undefined, written: Written): Written {
  if (text === undefined || SEVERAL_STATEMENTS.test(text)) return undefined;
  if (BEGINS.test(text)) return new Set();
  if (written === undefined || WRITES_NOTHING.test(text)) return written;
  const [, table] = WRITES_TO.exec(text) ?? [];
  return table === undefined ? undefined : written.add(table);
}

function textOf(statement: unknown): string | undefined {
  if (typeof statement === "string") return statement;
  if (typeof statement !== "object" || statement === null || !("text" in statement)) return undefined;
  return typeof statement.text === "string" ? statement.text : undefined;
}

/** Spares Ponder's connections these statements. Call it before Ponder starts. */
export function skipVainStatements(): void {
  const transactions = new WeakMap<Client, Written>();
  interceptStatements((statement, send, { connection, promised }) => {
    const text = textOf(statement);
    const written = transactions.get(connection);
    if (promised && text !== undefined && isInVain(text, written)) {
      return Promise.resolve({ command: "SELECT", rowCount: 0, oid: 0, fields: [], rows: [] });
    }
    transactions.set(connection, afterStatement(text, written));
    return send(statement);
  });
}
