/** Reads of the indexed tables, each with the block that its rows describe. */
import { setTimeout as sleep } from "node:timers/promises";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Sql } from "postgres";
import { type Connection, isConnectionError } from "../../lib/db/connect.ts";
import { inSnapshot } from "../../lib/db/snapshot.ts";
import { ApiError } from "../../lib/errors.ts";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import { within } from "../../lib/timeout.ts";
import type { AsOf } from "../chain/block.ts";
import { databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import { asOfHead, type HeadRow, readHead, selectHead } from "./head.ts";
import { readAtLastBlock } from "./last-block.ts";
import type { Standby } from "./standby.ts";

/** Builds queries, on the pool or in a transaction. */
export type IndexQuery = Pick<PostgresJsDatabase, "select" | "execute">;

/** Rows of one statement, each with the head, so that all of them are of one moment. */
type RowsWithHead<Row> = readonly (Row & { head: HeadRow })[];

export type IndexReader = {
  /**
   * Runs a query of one statement that joins its rows to the head of the same moment. Without rows it returns the head alone.
   * @throws as `read` does
   */
  rows<Row>(
    query: (db: IndexQuery) => PromiseLike<RowsWithHead<Row>>,
  ): Promise<{ asOf: AsOf; value: RowsWithHead<Row> }>;
  /** As `rows`, with a prepared statement. */
  prepare<Params, Row>(
    build: (db: IndexQuery) => (params: Params) => PromiseLike<RowsWithHead<Row>>,
  ): (params: Params) => Promise<{ asOf: AsOf; value: RowsWithHead<Row> }>;
  /**
   * Runs `query` and reads the indexed head in one snapshot. Statements that do not need the head should not wait for it:
   * statements sent together take one round trip.
   * @throws ApiError `database_unavailable`, `indexer_unavailable`, or `indexer_syncing` before the first indexed block
   */
  read<T>(query: (db: IndexQuery, asOf: Promise<AsOf>) => Promise<T>): Promise<{ asOf: AsOf; value: T }>;
  /** The newest indexed block. @throws as `read` does */
  head(): Promise<AsOf>;
};

/** Timeout of an indexed read, in ms. */
const READ_TIMEOUT_MS = 4500;

/** Attempts of a read that meets a swap of the views: each pooled connection may have prepared it on the old ones. */
const SWAP_ATTEMPTS = 4;

/**
 * Repeats a read that met a swap of the views.
 * @throws ApiError `indexer_syncing` when the swap takes long; the read's own error otherwise
 */
export async function throughSwap<T>(read: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await read();
    } catch (error) {
      if (!isSwap(error)) throw error;
      if (attempt === SWAP_ATTEMPTS) {
        throw new ApiError("indexer_syncing", "The index is being replaced; try again later.", {
          cause: error,
        });
      }
      await sleep(50 * attempt);
    }
  }
}

/** Why there is no index to read: its indexer still reads history, or none was started. */
export async function absentIndex(sql: Sql, viewsSchema: string, chainId: number): Promise<ApiError> {
  const deployments = await fromDatabase(
    () => sql`
      select 1 from service.indexer_deployment where views_schema = ${viewsSchema} and chain_id = ${chainId} limit 1`,
  );
  return deployments.length > 0
    ? new ApiError("indexer_syncing", "The indexer is still reading the chain's history; try again later.")
    : new ApiError("indexer_unavailable", "No indexer has been started for this chain.");
}

/** The index has no block yet, or is catching up after a start. */
class NoHead extends Error {
  override name = "NoHead";
}

export type IndexReaderParts = {
  readonly connection: Connection;
  /** For reads of the index. */
  readonly indexConnection: Connection;
  /** Is asked for reads of the index first; undefined without one. */
  readonly standby: Standby | undefined;
  readonly deployment: { readonly chainId: number };
  /** Postgres schema of the indexer's views. */
  readonly viewsSchema: string;
};

export function createIndexReader(parts: IndexReaderParts): IndexReader {
  const { connection, indexConnection, standby, deployment, viewsSchema } = parts;
  const { chainId } = deployment;
  // Ponder names columns in snake_case.
  const db = drizzle(indexConnection.sql, { casing: "snake_case" });

  /** A statement that is prepared on the pools, and built for each transaction. */
  function prepared<Statement>(build: (on: IndexQuery) => Statement): (on: IndexQuery) => Statement {
    const pools: readonly IndexQuery[] = standby ? [db, standby.db] : [db];
    const statements = new Map(pools.map((pool) => [pool, build(pool)]));
    return (on) => statements.get(on) ?? build(on);
  }

  /** Undefined when there is nothing to read. */
  async function attempt<T>(read: () => Promise<T | undefined>): Promise<T | undefined> {
    try {
      return await throughSwap(read);
    } catch (error) {
      if (isNotBuilt(error) || error instanceof NoHead) return undefined;
      throw error;
    }
  }

  /** Whether the newest read found the index catching up: the next one asks for the last block at once. */
  let catchingUp = false;

  /**
   * Reads the index; while it catches up, at the last block before.
   * @param read runs on a pool; with `together` it runs in a transaction
   */
  async function answer<T extends { readonly asOf: AsOf }>(
    read: (query: IndexQuery) => Promise<T | undefined>,
    { together }: { together: boolean },
  ): Promise<T> {
    const begun = performance.now();
    const run = (on: PostgresJsDatabase) => (together ? inSnapshot(on, read) : read(on));
    const now = () => attempt(() => run(db));
    const newest = async () => (await standby?.read(run)) ?? (await now());
    async function lastBlock(): Promise<T | undefined> {
      const last = await attempt(() => readAtLastBlock(parts, db, read));
      catchingUp = last !== undefined;
      return last;
    }
    // Between the first two it may have caught up.
    const inTurn = async () =>
      (catchingUp ? undefined : await newest()) ?? (await lastBlock()) ?? (await now());
    try {
      const found = await within(READ_TIMEOUT_MS, inTurn(), databaseUnavailable);
      if (found !== undefined) {
        standby?.learn(found.asOf, begun);
        return found;
      }
    } catch (error) {
      if (isConnectionError(error)) throw databaseUnavailable(error);
      throw error;
    }
    throw await absentIndex(connection.sql, viewsSchema, chainId);
  }

  const rowsOf =
    <Row>(query: (db: IndexQuery) => PromiseLike<RowsWithHead<Row>>) =>
    async (on: IndexQuery) => {
      const value = await query(on);
      const asOf = asOfHead(value[0]?.head, chainId);
      return asOf && { asOf, value };
    };

  /** Prepared, because it is read before most answers. */
  const newestHead = prepared((on) => selectHead(on).prepare("head"));

  return {
    rows: (query) => answer(rowsOf(query), { together: false }),
    prepare(build) {
      const statement = prepared(build);
      return (params) =>
        answer(
          rowsOf((on) => statement(on)(params)),
          { together: false },
        );
    },
    read: (query) =>
      answer(
        async (on) => {
          const known = readHead(on, chainId).then((asOf) => asOf ?? Promise.reject(new NoHead()));
          known.catch(() => {}); // the next line reports it
          const [asOf, value] = await Promise.all([known, query(on, known)]);
          return { asOf, value };
        },
        { together: true },
      ),
    async head() {
      const read = async (on: IndexQuery) => {
        const [row] = await newestHead(on).execute();
        const asOf = asOfHead(row, chainId);
        return asOf && { asOf };
      };
      return (await answer(read, { together: false })).asOf;
    },
  };
}
