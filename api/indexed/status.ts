import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { isConnectionError } from "../../lib/db/connect.ts";
import { isNotBuilt } from "../../lib/indexed/errors.ts";
import { checkpointBlock, isWhole } from "../../lib/indexed/head.ts";
import { within } from "../../lib/timeout.ts";
import * as indexed from "../../ponder.schema.ts";
import type { ChainHead } from "../chain/block.ts";
import { databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import { absentIndex, type IndexReaderParts, throughSwap } from "./reader.ts";

/** Blocks behind the chain's head above which the index counts as lagging. */
export const LAG_LIMIT = 10n;

/** Seconds without a heartbeat after which the indexer counts as down; it sends one every 2 s. */
const DOWN_AFTER_SECONDS = 10;

/** Seconds without a new block after which the chain counts as quiet. */
const QUIET_AFTER_SECONDS = 60n;

export const indexerConditions = ["backfilling", "caught_up", "quiet", "behind", "down"] as const;

/**
 * The index's status: `syncing` until the backfill is complete, then by its distance to the chain's head and its
 * heartbeat. `condition` says why.
 */
export type IndexerStatus = {
  status: "synced" | "lagging" | "syncing";
  condition: (typeof indexerConditions)[number];
  /** The newest block that reads see; 0 before the first. */
  lastSyncedBlock: bigint;
  headBlock: bigint;
  lagBlocks: bigint;
};

/** The index's position; `heartbeatAt` in Unix seconds, null before the first heartbeat. */
export type IndexPosition = {
  /** True when its rows can be read and are complete up to `block`. */
  ready: boolean;
  /** The indexed head, or the checkpoint before the first head; 0 without views. */
  block: bigint;
  alive: boolean;
  heartbeatAt: bigint | null;
};

/** Timeout of the read, in ms. */
const READ_TIMEOUT_MS = 4500;

const positionRow = z.object({
  ready: z.boolean().nullable(),
  head: z.string().nullable(),
  whole: z.boolean().nullable(),
  checkpoint: z.string().nullable(),
});

/** Reads the views' position in one statement; undefined without views. */
async function readViews(
  parts: IndexReaderParts,
): Promise<Pick<IndexPosition, "ready" | "block"> | undefined> {
  const { indexConnection, viewsSchema, deployment } = parts;
  const views = sql.identifier(viewsSchema);
  const { chainId } = deployment;
  const db = drizzle(indexConnection.sql, { casing: "snake_case" });
  const ours = sql`from ${indexed.head} where ${eq(indexed.head.chainId, chainId)}`;
  const query = () =>
    db.execute(sql`
      select
        (select (value ->> 'is_ready') = '1' from ${views}."_ponder_meta" where key = 'app') as ready,
        (select number::text ${ours}) as head,
        (select ${isWhole()} ${ours}) as whole,
        (select ${checkpointBlock(sql`latest_checkpoint`)}::text
          from ${views}."_ponder_checkpoint" where chain_id = ${chainId}) as checkpoint`);
  try {
    const read = throughSwap(async () => query());
    const [row] = await within(READ_TIMEOUT_MS, read, databaseUnavailable);
    const { ready, head, whole, checkpoint } = positionRow.parse(row);
    // Before a head that covers all rows there is no "now", and nothing can be read.
    return { ready: ready === true && whole === true, block: BigInt(head ?? checkpoint ?? 0) };
  } catch (error) {
    if (isConnectionError(error)) throw databaseUnavailable(error);
    if (!isNotBuilt(error)) throw error;
    return undefined;
  }
}

/** The newest heartbeat of any indexer of these views: one may build while another serves. */
async function readHeartbeat({ connection, viewsSchema, deployment }: IndexReaderParts) {
  const [row] = await fromDatabase(
    () => connection.sql<{ alive: boolean; heartbeat: string | null }[]>`
      select coalesce(max(coalesce(heartbeat_at, started_at)) >= now() - make_interval(secs => ${DOWN_AFTER_SECONDS}), false)
          as alive,
        floor(extract(epoch from max(heartbeat_at)))::text as heartbeat
      from service.indexer_deployment
      where views_schema = ${viewsSchema} and chain_id = ${deployment.chainId}`,
  );
  return { alive: row?.alive === true, heartbeatAt: row?.heartbeat ? BigInt(row.heartbeat) : null };
}

/**
 * Reads the index's position and whether its indexer is alive.
 * @throws ApiError `database_unavailable`, or `indexer_unavailable` when none was started
 */
export async function readIndexPosition(parts: IndexReaderParts): Promise<IndexPosition> {
  const [views, heartbeat] = await Promise.all([readViews(parts), readHeartbeat(parts)]);
  if (views) return { ...views, ...heartbeat };
  const reason = await absentIndex(parts.connection.sql, parts.viewsSchema, parts.deployment.chainId);
  if (reason.code !== "indexer_syncing") throw reason;
  return { ready: false, block: 0n, ...heartbeat };
}

/** The status that follows from the index's position and the chain's head, at the wall clock's time in ms. */
export function indexerStatus(
  position: IndexPosition,
  head: Pick<ChainHead, "number" | "timestamp">,
  nowMs: number,
): IndexerStatus {
  const lastSyncedBlock = position.block;
  // The shared head can be older than the index.
  const lagBlocks = head.number > lastSyncedBlock ? head.number - lastSyncedBlock : 0n;
  const headBlock = lastSyncedBlock + lagBlocks;
  return {
    ...conditionOf(position, lagBlocks, BigInt(Math.floor(nowMs / 1000)) - head.timestamp),
    lastSyncedBlock,
    headBlock,
    lagBlocks,
  };
}

function conditionOf(
  { ready, alive }: IndexPosition,
  lagBlocks: bigint,
  headAge: bigint,
): Pick<IndexerStatus, "status" | "condition"> {
  if (!alive) return { status: ready ? "lagging" : "syncing", condition: "down" };
  if (!ready) return { status: "syncing", condition: "backfilling" };
  if (lagBlocks > LAG_LIMIT) return { status: "lagging", condition: "behind" };
  return { status: "synced", condition: headAge > QUIET_AFTER_SECONDS ? "quiet" : "caught_up" };
}
