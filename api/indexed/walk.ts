/** Conditions that walk along an index, newest first. */
import { type Column, desc, type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable, PgView } from "drizzle-orm/pg-core";
import type { Position } from "../http/paging.ts";

/** The columns that every event table is read by: its primary key, and the block time. */
type EventTable = (PgTable | PgView) & { blockNumber: Column; logIndex: Column; blockTimestamp: Column };

/** Higher than every block. */
const NO_BLOCK = "1000000000000000";

/** A column and the value that all rows of the walk have there; undefined for any value. */
type Key = readonly [column: Column, value: string | Placeholder | undefined];

/** The position after which a walk begins; a prepared statement receives it later. */
type After = {
  readonly blockNumber: string | Placeholder;
  readonly logIndex: number | Placeholder;
};

/** After a cursor, or without one from the newest row. */
export const after = (cursor: Position | undefined) => ({
  blockNumber: cursor ? String(cursor.blockNumber) : NO_BLOCK,
  logIndex: cursor?.logIndex ?? 0,
});

type Walk = { readonly where: SQL; readonly orderBy: readonly SQL[] };

const list = (parts: readonly SQLWrapper[]) => sql`(${sql.join([...parts], sql`, `)})`;

/**
 * Rows of `table` with the keys' values, newest first, after the position `from`, of blocks since `since` (Unix seconds,
 * or an expression). There must be an index on the given keys, block number and log index.
 *
 * Range and order compare whole rows of that index, keys included. With `key = value` instead, Postgres may walk the
 * primary key and filter, which takes very long for a kind of event that was common only years ago.
 */
export function walkBack(table: EventTable, keys: readonly Key[], from: After, since?: bigint | SQL): Walk {
  const given = keys.filter(([, value]) => value !== undefined);
  const columns = [...given.map(([column]) => column), table.blockNumber, table.logIndex];
  const values = given.map(([, value]) => sql`${value}`);
  // Time rises with the block number, so the range begins at the first block that is new enough. Without one the
  // comparison is with null, and matches nothing.
  const first =
    since === undefined
      ? sql`0`
      : sql`(select t.block_number from ${table} t
          where t.block_timestamp >= ${typeof since === "bigint" ? String(since) : since} order by t.block_timestamp, t.block_number limit 1)`;
  return {
    where: sql`${list(columns)} >= ${list([...values, first, sql`0`])} and ${list(columns)} < ${list([...values, sql`${from.blockNumber}`, sql`${from.logIndex}`])}`,
    orderBy: columns.map((column) => desc(column)),
  };
}

/**
 * An order with a literal number of rows, after `skipped` ones. drizzle would make the number a parameter; then Postgres
 * finds its guess worse than a plan for each execution, and plans each time, for as long as it runs.
 */
export const firstRows = (orderBy: readonly SQL[], rows: number, skipped?: Placeholder): SQL =>
  sql`${sql.join([...orderBy], sql`, `)} limit ${sql.raw(String(rows))}${skipped && sql` offset ${skipped}`}`;

/** Rows with `key`'s value and an id below `cursor`, the newest id first; see {@link walkBack}. */
export function walkIdsBack([column, value]: Key, id: Column, cursor: bigint | undefined): Walk {
  const columns = [column, id];
  const above = cursor === undefined ? sql`'Infinity'::numeric` : sql`${String(cursor)}`;
  return {
    where: sql`${list(columns)} >= ${list([sql`${value}`, sql`0`])} and ${list(columns)} < ${list([sql`${value}`, above])}`,
    orderBy: columns.map((each) => desc(each)),
  };
}

/** Rows from `low` to `high` by these columns, both ends included: one range of an index on them. */
export const between = (columns: readonly Column[], low: readonly SQL[], high: readonly SQL[]): SQL =>
  sql`${list(columns)} >= ${list(low)} and ${list(columns)} <= ${list(high)}`;

/** Joins a page to the head in one statement, so that both are of one moment. An empty page is null. */
export const always = sql`true`;
