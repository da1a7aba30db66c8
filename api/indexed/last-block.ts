/**
 * Reads at the last block before the indexer's start. While an index catches up, its launcher holds a snapshot of the rows
 * before, and the views show no head.
 */
import { sql } from "drizzle-orm";
import type { PostgresJsDatabase } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { ONE_SNAPSHOT } from "../../lib/db/snapshot.ts";
import { sqlState } from "../../lib/db/sql-state.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { IndexQuery, IndexReaderParts } from "./reader.ts";

const publishedSnapshots = z.array(z.object({ snapshot: z.string().regex(/^[0-9A-F-]+$/i) }));

async function findSnapshot({ connection, viewsSchema, deployment }: IndexReaderParts) {
  const found = await fromDatabase(
    () => connection.sql`
      select snapshot from service.indexer_deployment
      where views_schema = ${viewsSchema} and chain_id = ${deployment.chainId} and snapshot is not null
      order by started_at desc limit 1`,
  );
  return publishedSnapshots.parse([...found])[0]?.snapshot;
}

/** The snapshot has ended, or DATABASE_URL leads to a standby, which does not have it. */
const isGone = (error: unknown) => ["42704", "22023", "0A000"].includes(sqlState(error));

/**
 * Runs `read` in the snapshot of the last block. Undefined without one: nothing catches up, or the snapshot has ended, because
 * the index has caught up or because it was too old.
 */
export async function readAtLastBlock<T>(
  parts: IndexReaderParts,
  db: PostgresJsDatabase,
  read: (query: IndexQuery) => Promise<T | undefined>,
): Promise<T | undefined> {
  const snapshot = await findSnapshot(parts);
  if (snapshot === undefined) return undefined;
  let gone = false;
  return db
    .transaction(async (tx) => {
      // Sent together, they take one round trip.
      const taken = tx.execute(sql.raw(`${ONE_SNAPSHOT}; set transaction snapshot '${snapshot}'`)).then(
        () => {},
        (error: unknown) => {
          gone = isGone(error);
          throw error;
        },
      );
      const [value] = await Promise.all([read(tx), taken]);
      return value;
    })
    .catch((error: unknown) => {
      if (gone) return undefined;
      throw error;
    });
}
