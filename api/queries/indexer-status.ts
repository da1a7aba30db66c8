import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { isConnectionError } from "../../lib/db/connect.ts";
import * as indexed from "../../ponder.schema.ts";
import { databaseUnavailable, within } from "../bounded.ts";
import type { ChainHead } from "../chain.ts";
import type { Dependencies } from "../dependencies.ts";
import { absentIndex, isNotBuilt } from "./index-reader.ts";

/** Blocks behind the chain's head from which on the index counts as lagging. */
export const LAG_LIMIT = 10n;

/** How far an indexer has come: `syncing` until its backfill is complete, then by its distance to the chain's head. */
export type IndexerStatus = {
  status: "synced" | "lagging" | "syncing";
  /** The newest block that reads see; 0 while there is nothing to read. */
  lastSyncedBlock: bigint;
  headBlock: bigint;
  lagBlocks: bigint;
};

/** What the index says of itself: Ponder's `is_ready`, the indexed head, and the checkpoint where there is no head yet. */
export type IndexPosition = { ready: boolean; block: bigint };

/** As long as the read may take, in ms. */
const READ_TIMEOUT_MS = 4500;

const positionRow = z.object({
  ready: z.boolean().nullable(),
  head: z.string().nullable(),
  checkpoint: z.string().nullable(),
});
/** In Ponder's checkpoint strings the block number follows the timestamp (10 digits) and the chain id (16). */
const CHECKPOINT_BLOCK = { from: 27, length: 16 };

/**
 * Reads how far the index is, in one statement; undefined when an indexer was started and has no views yet.
 * @throws ApiError `database_unavailable`, or `indexer_unavailable` when none was started
 */
export async function readIndexPosition(deps: Dependencies): Promise<IndexPosition | undefined> {
  const { connection, viewsSchema, deployment } = deps;
  const views = sql.identifier(viewsSchema);
  const { chainId } = deployment;
  const db = drizzle(connection.sql, { casing: "snake_case" });
  const query = db.execute(sql`
    select
      (select (value ->> 'is_ready') = '1' from ${views}."_ponder_meta" where key = 'app') as ready,
      (select number::text from ${indexed.head} where ${eq(indexed.head.chainId, chainId)}) as head,
      (select substr(latest_checkpoint, ${CHECKPOINT_BLOCK.from}, ${CHECKPOINT_BLOCK.length})
        from ${views}."_ponder_checkpoint" where chain_id = ${chainId}) as checkpoint`);
  try {
    const [row] = await within(READ_TIMEOUT_MS, query, databaseUnavailable);
    const { ready, head, checkpoint } = positionRow.parse(row);
    // Without a head there is no "now", and nothing can be read yet.
    return { ready: ready === true && head !== null, block: BigInt(head ?? checkpoint ?? 0) };
  } catch (error) {
    if (isConnectionError(error)) throw databaseUnavailable(error);
    if (!isNotBuilt(error)) throw error;
  }
  const reason = await absentIndex(connection.db, viewsSchema, chainId);
  if (reason.code === "indexer_syncing") return undefined;
  throw reason;
}

/** The status that follows from the index's position and the chain's head. */
export function indexerStatus(
  position: IndexPosition | undefined,
  head: Pick<ChainHead, "number">,
): IndexerStatus {
  const lastSyncedBlock = position?.block ?? 0n;
  // The head that requests share can be older than what the index has read since.
  const headBlock = head.number > lastSyncedBlock ? head.number : lastSyncedBlock;
  const lagBlocks = headBlock - lastSyncedBlock;
  const status = !position?.ready ? "syncing" : lagBlocks > LAG_LIMIT ? "lagging" : "synced";
  return { status, lastSyncedBlock, headBlock, lagBlocks };
}
