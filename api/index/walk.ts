/** Walks along indexes, newest first. */
import { type Column, desc, type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Position } from "../http/paging.ts";

/** The columns by which every event's table is read: its primary key, and the block's time. */
type EventTable = PgTable & { blockNumber: Column; logIndex: Column; blockTimestamp: Column };

/** Beyond every block. */
const NO_BLOCK = "1000000000000000";

/** A column with the value that all rows of the walk have there; undefined where any value will do. */
type Key = readonly [column: Column, value: string | Placeholder | undefined];

/** Where a walk begins: behind this position, which a prepared statement is told later. */
type Behind = {
  readonly blockNumber: string | Placeholder;
  readonly logIndex: number | Placeholder;
};

/** Behind a cursor, or without one at the newest row. */
export const behind = (cursor: Position | undefined) => ({
  blockNumber: cursor ? String(cursor.blockNumber) : NO_BLOCK,
  logIndex: cursor?.logIndex ?? 0,
});

type Walk = { readonly where: SQL; readonly orderBy: readonly SQL[] };

const list = (parts: readonly SQLWrapper[]) => sql`(${sql.join([...parts], sql`, `)})`;

/**
 * Rows of `table` that have the keys' values, newest first, behind `from`, of blocks from `since` (Unix seconds) on.
 * There must be an index on the given keys, block number and log index. `since` may be an expression.
 *
 * The range is told in whole rows of that index, keys included, and so is the order. With the keys told as equal to
 * their values, Postgres may walk the primary key instead and drop what does not match, which takes forever for a kind
 * of event that was common years ago.
 */
export function walkBack(table: EventTable, keys: readonly Key[], from: Behind, since?: bigint | SQL): Walk {
  const given = keys.filter(([, value]) => value !== undefined);
  const columns = [...given.map(([column]) => column), table.blockNumber, table.logIndex];
  const values = given.map(([, value]) => sql`${value}`);
  // Time rises with the block number, so the first block that is new enough begins the range; where there is none, the
  // comparison is with null, and nothing is read.
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

/** Rows with `key`'s value and an id below `cursor`, the newest id first; see {@link walkBack}. */
export function walkIdsBack([column, value]: Key, id: Column, cursor: bigint | undefined): Walk {
  const columns = [column, id];
  const above = cursor === undefined ? sql`'Infinity'::numeric` : sql`${String(cursor)}`;
  return {
    where: sql`${list(columns)} >= ${list([sql`${value}`, sql`0`])} and ${list(columns)} < ${list([sql`${value}`, above])}`,
    orderBy: columns.map((each) => desc(each)),
  };
}

/** Joins a page to the head: one statement reads both, and so they are of one moment. An empty page is null. */
export const always = sql`true`;
