import { and, type SQL, sql } from "drizzle-orm";
import type { AnyPgColumn, PgTable } from "drizzle-orm/pg-core";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type Address, getAddress, type Hex } from "viem";
import type { EventData } from "../../../lib/webhooks/events.ts";
import type { Block, LogEventType } from "../event.ts";

/** What a query is built on: the pool, or a transaction. */
export type IndexQuery = Pick<PostgresJsDatabase, "select" | "execute">;

/** A table of which each row was made by one event. */
export type EventTable = PgTable &
  Readonly<Record<"blockNumber" | "logIndex" | "blockHash" | "txHash", AnyPgColumn>>;

/** Where a log stands in the chain. */
export type Position = { readonly blockNumber: bigint; readonly logIndex: number };

/** What a source tells of a log. */
export type LogEvent = {
  readonly type: LogEventType;
  readonly block: Block;
  readonly log: { readonly index: number; readonly txHash: Hex };
  readonly parties: readonly Address[];
  readonly data: EventData[LogEventType];
};

/** Where the events of one type come from. */
export type Source = {
  readonly type: LogEventType;
  readonly table: EventTable;
  /** Which of the table's rows are such events; all when left out. */
  readonly only: SQL | undefined;
  /** The events between two positions, both included. */
  readonly read: (db: IndexQuery, first: Position, last: Position) => Promise<readonly LogEvent[]>;
};

type EventColumns = Position & {
  readonly blockHash: Hex;
  readonly blockTimestamp: bigint;
  readonly txHash: Hex;
};

type SourceOptions<Type extends LogEventType, Row extends EventColumns> = {
  type: Type;
  table: EventTable;
  only?: SQL;
  /** The rows that meet a condition on the table, with what is joined to them. */
  rows: (db: IndexQuery, where: SQL | undefined) => PromiseLike<readonly Row[]>;
  /** Whom it concerns; null where the index does not know. */
  parties: (row: Row) => readonly (Address | null)[];
  data: (row: Row) => EventData[Type];
};

/** A source, from its rows and from what each of them means. */
export function source<Type extends LogEventType, Row extends EventColumns>(
  options: SourceOptions<Type, Row>,
): Source {
  const { type, table, only, rows, parties, data } = options;
  const at = sql`(${table.blockNumber}, ${table.logIndex})`;
  const point = ({ blockNumber, logIndex }: Position) =>
    sql`(${String(blockNumber)}::numeric, ${String(logIndex)}::integer)`;
  return {
    type,
    table,
    only,
    async read(db, first, last) {
      const found = await rows(db, and(sql`${at} >= ${point(first)}`, sql`${at} <= ${point(last)}`, only));
      return found.map((row) => ({
        type,
        block: { number: row.blockNumber, hash: row.blockHash, timestamp: row.blockTimestamp },
        log: { index: row.logIndex, txHash: row.txHash },
        parties: distinct(parties(row)),
        data: data(row),
      }));
    },
  };
}

/** The wallets that are known, in lower case, each once. */
export function distinct(wallets: readonly (Address | null)[]): readonly Address[] {
  const known = wallets.flatMap((wallet): Address[] =>
    wallet === null ? [] : [`0x${wallet.slice(2).toLowerCase()}`],
  );
  return [...new Set(known)];
}

/** An on-chain integer as bodies carry it. */
export const decimalOrNull = (value: bigint | null) => (value === null ? null : String(value));
export const addressOrNull = (value: Address | null) => (value === null ? null : getAddress(value));
