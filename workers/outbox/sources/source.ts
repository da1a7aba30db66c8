import { and, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn, PgTable } from "drizzle-orm/pg-core";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type Address, getAddress, type Hex } from "viem";
import type { EventData } from "../../../lib/webhooks/events.ts";
import type { Block, LogEventType } from "../event.ts";

/** Runs queries: a connection pool or a transaction. */
export type IndexQuery = Pick<PostgresJsDatabase, "select" | "execute">;

/** An indexed table with one row for each event. */
export type EventTable = PgTable &
  Readonly<Record<"blockNumber" | "logIndex" | "blockHash" | "txHash", AnyPgColumn>>;

/** The position of a log in the chain. */
export type LogPosition = { readonly blockNumber: bigint; readonly logIndex: number };

/** The event of a log, as a source reads it. */
export type LogEvent = {
  readonly type: LogEventType;
  readonly block: Block;
  readonly log: { readonly index: number; readonly txHash: Hex };
  readonly parties: readonly Address[];
  readonly data: EventData[LogEventType];
};

/** Reads the events of one type from the index. */
export type Source = {
  readonly type: LogEventType;
  readonly table: EventTable;
  /** The events between two positions, both included. */
  readonly read: (db: IndexQuery, first: LogPosition, last: LogPosition) => Promise<readonly LogEvent[]>;
};

type EventColumns = LogPosition & {
  readonly blockHash: Hex;
  readonly blockTimestamp: bigint;
  readonly txHash: Hex;
};

type SourceOptions<Type extends LogEventType, Row extends EventColumns> = {
  type: Type;
  table: EventTable;
  /** Selects the rows that meet a condition on the table, with their joined columns. */
  rows: (db: IndexQuery, where: SQL | undefined) => PromiseLike<readonly Row[]>;
  /** The wallets that receive the event; null where the index does not know one. */
  parties: (row: Row) => readonly (Address | null)[];
  data: (row: Row) => EventData[Type];
};

/** Defines a source: how to select rows, and how to map a row to an event. */
export function source<Type extends LogEventType, Row extends EventColumns>(
  options: SourceOptions<Type, Row>,
): Source {
  const { type, table, rows, parties, data } = options;
  const rowPosition = sql`(${table.blockNumber}, ${table.logIndex})`;
  const literal = ({ blockNumber, logIndex }: LogPosition) =>
    sql`(${String(blockNumber)}::numeric, ${String(logIndex)}::integer)`;
  return {
    type,
    table,
    async read(db, first, last) {
      const between = and(sql`${rowPosition} >= ${literal(first)}`, sql`${rowPosition} <= ${literal(last)}`);
      const found = await rows(db, between);
      return found.map((row) => ({
        type,
        block: { number: row.blockNumber, hash: row.blockHash, timestamp: row.blockTimestamp },
        log: { index: row.logIndex, txHash: row.txHash },
        parties: distinctWallets(parties(row)),
        data: data(row),
      }));
    },
  };
}

/** Lower-case wallets without nulls and duplicates. */
export function distinctWallets(wallets: readonly (Address | null)[]): readonly Address[] {
  const known = wallets.flatMap((wallet): Address[] =>
    wallet === null ? [] : [`0x${wallet.slice(2).toLowerCase()}`],
  );
  return [...new Set(known)];
}

/** An on-chain integer as a decimal string, the form of event bodies. */
export const decimalOrNull = (value: bigint | null) => (value === null ? null : String(value));
export const addressOrNull = (value: Address | null) => (value === null ? null : getAddress(value));
