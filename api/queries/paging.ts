/** Walks along indexes, newest first. */
import { type Column, desc, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Position } from "../schemas/paging.ts";

/** The columns by which every event's table is read: its primary key, and the block's time. */
type EventTable = PgTable & { blockNumber: Column; logIndex: Column; blockTimestamp: Column };

/** Beyond every block. */
const NO_BLOCK = "1000000000000000";

/** A column with the value that all rows of the walk have there; undefined where any value will do. */
type Key = readonly [column: Column, value: string | undefined];

type Walk = { readonly where: SQL; readonly orderBy: readonly SQL[] };

const list = (parts: readonly SQLWrapper[]) => sql`(${sql.join([...parts], sql`, `)})`;

/**
 * Rows of `table` that have the keys' values, newest first, behind `cursor`, of blocks from `since` (Unix seconds) on.
 * There must be an index on the given keys, block number and log index.
 *
 * The range is told in whole rows of that index, keys included, and so is the order. With the keys told as equal to
 * their values, Postgres may walk the primary key instead and drop what does not match, which takes forever for a kind
 * of event that was common years ago.
 */
export function walkBack(
  table: EventTable,
  keys: readonly Key[],
  { cursor, since }: { cursor?: Position | undefined; since?: bigint | undefined },
): Walk {
  const given = keys.filter(([, value]) => value !== undefined);
  const columns = [...given.map(([column]) => column), table.blockNumber, table.logIndex];
  const values = given.map(([, value]) => sql`${value}`);
  // Time rises with the block number, so the first block that is new enough begins the range; where there is none, the
  // comparison is with null, and nothing is read.
  const first =
    since === undefined
      ? sql`0`
      : sql`(select t.block_number from ${table} t
          where t.block_timestamp >= ${String(since)} order by t.block_timestamp, t.block_number limit 1)`;
  const behind = cursor
    ? [sql`${String(cursor.blockNumber)}`, sql`${cursor.logIndex}`]
    : [sql`${NO_BLOCK}`, sql`0`];
  return {
    where: sql`${list(columns)} >= ${list([...values, first, sql`0`])} and ${list(columns)} < ${list([...values, ...behind])}`,
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
