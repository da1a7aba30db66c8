/** Reads of the indexed tables, each with the block as of which its rows are true. */
import { setTimeout as sleep } from "node:timers/promises";
import { and, eq } from "drizzle-orm";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type Database, isConnectionError } from "../../lib/db/connect.ts";
import { indexerDeployment } from "../../lib/db/service.schema.ts";
import { ApiError } from "../../lib/errors.ts";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import { isWhole } from "../../lib/indexed/head.ts";
import { within } from "../../lib/within.ts";
import * as indexed from "../../ponder.schema.ts";
import type { Dependencies } from "../dependencies.ts";
import { databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import type { AsOf } from "../policies/body.ts";

/** What a query is built on: the pool, or a transaction. */
export type IndexQuery = Pick<PostgresJsDatabase, "select" | "execute">;

/** Rows of one statement, each beside the head: of one moment, as whatever a statement reads. */
type RowsWithHead<Row> = readonly (Row & { head: typeof indexed.head.$inferSelect })[];

export type IndexReader = {
  /**
   * Runs a query of one statement that joins what it reads to the head, for the head's row tells the moment. The head
   * stands alone where there is nothing else. @throws as `read` does
   */
  rows<Row>(
    query: (db: IndexQuery) => PromiseLike<RowsWithHead<Row>>,
  ): Promise<{ asOf: AsOf; value: RowsWithHead<Row> }>;
  /** As `rows`, with a statement that is built once, and told its parameters each time. */
  prepare<Params, Row>(
    build: (db: IndexQuery) => (params: Params) => PromiseLike<RowsWithHead<Row>>,
  ): (params: Params) => Promise<{ asOf: AsOf; value: RowsWithHead<Row> }>;
  /**
   * Runs `query` and reads the indexed head in one snapshot. What needs no head is best sent without waiting for it: all
   * that is sent at once takes one round trip.
   * @throws ApiError `database_unavailable`, `indexer_unavailable`, or `indexer_syncing` while there is nothing to read yet
   */
  read<T>(query: (db: IndexQuery, asOf: Promise<AsOf>) => Promise<T>): Promise<{ asOf: AsOf; value: T }>;
  /** The newest indexed block. @throws as `read` does */
  head(): Promise<AsOf>;
};

/** As long as the slowest indexed read may take, in ms. */
const READ_TIMEOUT_MS = 4500;

/** Tries in all of a read that meets a swap: each of the pool's connections may have prepared it on the old views. */
const SWAP_TRIES = 4;

/**
 * Reads again what met a swap of the views.
 * @throws ApiError `indexer_syncing` when the swap takes long; the read's own error otherwise
 */
export async function throughSwap<T>(read: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await read();
    } catch (error) {
      if (!isSwap(error)) throw error;
      if (tries === SWAP_TRIES) {
        throw new ApiError("indexer_syncing", "The index is being replaced; try again later.", {
          cause: error,
        });
      }
      await sleep(50 * tries);
    }
  }
}

/** Why there is nothing to read: an indexer of our views was started and still reads history, or none was. */
export async function absentIndex(db: Database, viewsSchema: string, chainId: number): Promise<ApiError> {
  const deployments = await fromDatabase(() =>
    db
      .select({ schemaName: indexerDeployment.schemaName })
      .from(indexerDeployment)
      .where(and(eq(indexerDeployment.viewsSchema, viewsSchema), eq(indexerDeployment.chainId, chainId)))
      .limit(1),
  );
  return deployments.length > 0
    ? new ApiError("indexer_syncing", "The indexer still reads the chain's history; try again later.")
    : new ApiError("indexer_unavailable", "No indexer has been started for this chain.");
}

/** The index has read no block yet, or reads what it has missed. */
class NoHead extends Error {
  override name = "NoHead";
}

export function createIndexReader(deps: Dependencies): IndexReader {
  const { connection, indexConnection, deployment, viewsSchema } = deps;
  const { chainId } = deployment;
  // Ponder names columns in snake_case; our own tables name theirs themselves.
  const db = drizzle(indexConnection.sql, { casing: "snake_case" });

  /** Views of another chain's index are none of ours. */
  function asOfHead(row: typeof indexed.head.$inferSelect | undefined): AsOf | undefined {
    if (row?.chainId !== chainId) return undefined;
    return { source: "index", number: row.number, hash: row.hash, timestamp: row.timestamp };
  }

  async function headRow(query: Pick<IndexQuery, "select">): Promise<AsOf | undefined> {
    const [row] = await query.select().from(indexed.head).where(isWhole());
    return asOfHead(row);
  }

  const snapshot = <T>(query: (db: IndexQuery, asOf: Promise<AsOf>) => Promise<T>) =>
    db.transaction(async (tx) => {
      const head = headRow(tx);
      const known = head.then((asOf) => asOf ?? Promise.reject(new NoHead()));
      known.catch(() => {}); // told by the line below, unless the query asks for it
      const [asOf, value] = await Promise.all([known, query(tx, known)]);
      return { asOf, value };
    });

  async function bounded<T>(read: () => Promise<T | undefined>): Promise<T> {
    try {
      const result = await within(READ_TIMEOUT_MS, throughSwap(read), databaseUnavailable);
      if (result !== undefined) return result;
    } catch (error) {
      if (isConnectionError(error)) throw databaseUnavailable(error);
      if (!isNotBuilt(error) && !(error instanceof NoHead)) throw error;
    }
    throw await absentIndex(connection.db, viewsSchema, chainId);
  }

  const rows: IndexReader["rows"] = (query) =>
    bounded(async () => {
      const value = await query(db);
      const asOf = asOfHead(value[0]?.head);
      return asOf && { asOf, value };
    });

  return {
    rows,
    prepare(build) {
      const run = build(db);
      return (params) => rows(() => run(params));
    },
    read: (query) => bounded(() => snapshot(query)),
    head: () => bounded(() => headRow(db)),
  };
}
