/** Reads of the indexed tables, each with the block as of which its rows are true. */
import { and, eq } from "drizzle-orm";
import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { type Database, isConnectionError } from "../../lib/db/connect.ts";
import { indexerDeployment } from "../../lib/db/service.schema.ts";
import { ApiError } from "../../lib/errors.ts";
import * as indexed from "../../ponder.schema.ts";
import { databaseUnavailable, fromDatabase, within } from "../bounded.ts";
import type { Dependencies } from "../dependencies.ts";
import type { AsOf } from "../policy.ts";

export type IndexQuery = Parameters<Parameters<PostgresJsDatabase["transaction"]>[0]>[0];

export type IndexReader = {
  /**
   * Runs `query` and reads the indexed head in one snapshot.
   * @throws ApiError `database_unavailable`, `indexer_unavailable`, or `indexer_syncing` while there is nothing to read yet
   */
  read<T>(query: (db: IndexQuery, asOf: AsOf) => Promise<T>): Promise<{ asOf: AsOf; value: T }>;
  /** The newest indexed block. @throws as `read` does */
  head(): Promise<AsOf>;
};

/** As long as the slowest indexed read may take, in ms. */
const READ_TIMEOUT_MS = 4500;

const sqlState = (error: unknown) =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : "";

/** No views, none for this table yet, or those of another build: there is nothing to read for us. */
export const isNotBuilt = (error: unknown) => ["42P01", "3F000", "42703"].includes(sqlState(error));
/** The views were replaced under the query ("could not open relation", deadlock, changed plan): the next try finds the new ones. */
const isSwap = (error: unknown) => ["XX000", "40P01", "0A000"].includes(sqlState(error));

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

export function createIndexReader({ connection, deployment, viewsSchema }: Dependencies): IndexReader {
  const { chainId } = deployment;
  // Ponder names columns in snake_case; our own tables name theirs themselves.
  const db = drizzle(connection.sql, { casing: "snake_case" });

  async function headRow(query: Pick<IndexQuery, "select">): Promise<AsOf | undefined> {
    const [row] = await query.select().from(indexed.head).where(eq(indexed.head.chainId, chainId));
    return row && { source: "index", number: row.number, hash: row.hash, timestamp: row.timestamp };
  }

  const snapshot = <T>(query: (db: IndexQuery, asOf: AsOf) => Promise<T>) =>
    db.transaction(
      async (tx) => {
        const asOf = await headRow(tx);
        return asOf && { asOf, value: await query(tx, asOf) };
      },
      { isolationLevel: "repeatable read", accessMode: "read only" },
    );

  async function bounded<T>(read: () => Promise<T | undefined>): Promise<T> {
    try {
      const attempt = () => within(READ_TIMEOUT_MS, read(), databaseUnavailable);
      const result = await attempt().catch((error) => (isSwap(error) ? attempt() : Promise.reject(error)));
      if (result !== undefined) return result;
    } catch (error) {
      if (isConnectionError(error)) throw databaseUnavailable(error);
      if (!isNotBuilt(error)) throw error;
    }
    throw await absentIndex(connection.db, viewsSchema, chainId);
  }

  return {
    read: (query) => bounded(() => snapshot(query)),
    head: () => bounded(() => headRow(db)),
  };
}
