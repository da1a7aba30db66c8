import { type Column, type SQL, sql } from "drizzle-orm";
import type { PgTable } from "drizzle-orm/pg-core";
import type { Position } from "../schemas/paging.ts";

/** The columns by which every event's table is read: its primary key, and the block's time. */
type EventTable = PgTable & { blockNumber: Column; logIndex: Column; blockTimestamp: Column };

/** Rows behind a position, newest first: a range of the index that ends with block number and log index. */
export const behind = (
  table: Omit<EventTable, "blockTimestamp">,
  cursor: Position | undefined,
): SQL | undefined =>
  cursor &&
  sql`(${table.blockNumber}, ${table.logIndex}) < (${String(cursor.blockNumber)}, ${cursor.logIndex})`;

/**
 * Rows of blocks from `time` (Unix seconds) on. Time rises with the block number, so this is a range of the primary key
 * whose begin the index by time names; where no row is that new, there is none to compare with, and nothing is read.
 */
export const since = (table: EventTable, time: bigint | undefined): SQL | undefined =>
  time === undefined
    ? undefined
    : sql`${table.blockNumber} >= (select t.block_number from ${table} t
        where t.block_timestamp >= ${String(time)} order by t.block_timestamp, t.block_number limit 1)`;
