/** Conditions that walk along an index, newest first. */
import { type Column, desc, type Placeholder, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Position } from "../http/paging.ts";

/** The columns that every event table is read by: its position, by which it has an index, and the block time. */
type EventTable = PgTable & { blockNumber: Column; logIndex: Column; blockTimestamp: Column };

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

/** The times of a walk's rows, Unix seconds: `from` included, `to` excluded. */
type WalkPeriod = { readonly from?: bigint | SQL | undefined; readonly to?: bigint | SQL | undefined };

/**
 * The block from which on `table`'s rows are of `time` (Unix seconds) or later. Time rises with the block number, so a binary
 * search along the index on the position finds it in about twenty steps; an index on time would cost the indexer a write
 * per row.
 */
export const blockAt = (table: EventTable, time: bigint | SQL): SQL => sql`(
  with recursive search (low, high) as (
    select coalesce(min(block_number), 0)::bigint, coalesce(max(block_number) + 1, 0)::bigint from ${table}
    union all
    select case when row.later then low else row.block + 1 end, case when row.later then middle else high end
    from (select low, high, (low + high) / 2 as middle from search where low < high) half,
      lateral (select t.block_number::bigint as block, t.block_timestamp >= ${typeof time === "bigint" ? String(time) : time} as later
        from ${table} t where t.block_number >= middle::numeric order by t.block_number, t.log_index limit 1) row)
  select low from search where low >= high)`;

/** The position before which a walk begins: the cursor's, or the end of the period, whichever is earlier. */
function beginning(table: EventTable, { blockNumber, logIndex }: After, { to }: WalkPeriod): [SQL, SQL] {
  if (to === undefined) return [sql`${blockNumber}`, sql`${logIndex}`];
  const end = blockAt(table, to);
  return [
    sql`least(${blockNumber}::numeric, ${end})`,
    sql`case when ${blockNumber}::numeric < ${end} then ${logIndex}::integer else 0 end`,
  ];
}

/**
 * Rows of `table` with the keys' values, newest first, after the position `start`, of blocks within `period`. There must be an
 * index on the given keys, block number and log index, and one on block number and log index.
 *
 * Range and order compare whole rows of that index, keys included. With `key = value` instead, Postgres may walk the
 * primary key and filter, which takes very long for a kind of event that was common only years ago.
 */
export function walkBack(
  table: EventTable,
  keys: readonly Key[],
  start: After,
  period: WalkPeriod = {},
): Walk {
  const given = keys.filter(([, value]) => value !== undefined);
  const columns = [...given.map(([column]) => column), table.blockNumber, table.logIndex];
  const values = given.map(([, value]) => sql`${value}`);
  const first = period.from === undefined ? sql`0` : blockAt(table, period.from);
  return {
    where: sql`${list(columns)} >= ${list([...values, first, sql`0`])} and ${list(columns)} < ${list([...values, ...beginning(table, start, period)])}`,
    orderBy: columns.map((column) => desc(column)),
  };
}

/**
 * An order with a literal number of rows. drizzle would make the number a parameter; then Postgres
 * finds its guess worse than a plan for each execution, and plans each time, for as long as it runs.
 */
export const firstRows = (orderBy: readonly SQL[], rows: number): SQL =>
  sql`${sql.join([...orderBy], sql`, `)} limit ${sql.raw(String(rows))}`;

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
