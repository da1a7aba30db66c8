import { eq, sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { isConnectionError } from "../../lib/db/connect.ts";
import { isNotBuilt } from "../../lib/indexed/errors.ts";
import { checkpointBlock, isWhole } from "../../lib/indexed/head.ts";
import { within } from "../../lib/within.ts";
import * as indexed from "../../ponder.schema.ts";
import type { ChainHead } from "../chain/chain-reads.ts";
import type { Dependencies } from "../dependencies.ts";
import { databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import { absentIndex, throughSwap } from "./reader.ts";

/** Blocks behind the chain's head from which on the index counts as lagging. */
export const LAG_LIMIT = 10n;

/** An indexer that gives no sign of life for so long counts as dead, in seconds; it gives one every two. */
const DEAD_AFTER_SECONDS = 10;

/** A chain without a new block for so long counts as quiet, in seconds. */
const QUIET_AFTER_SECONDS = 60n;

export const indexerConditions = ["backfilling", "caught_up", "quiet", "behind", "down"] as const;

/**
 * How far an indexer has come: `syncing` until its backfill is complete, then by its distance to the chain's head and by
 * its signs of life. The condition says why.
 */
export type IndexerStatus = {
  status: "synced" | "lagging" | "syncing";
  condition: (typeof indexerConditions)[number];
  /** The newest block that reads see; 0 while there is nothing to read. */
  lastSyncedBlock: bigint;
  headBlock: bigint;
  lagBlocks: bigint;
};

/** What the index says of itself; `heartbeatAt` in Unix seconds, null before the indexer's first sign of life. */
export type IndexPosition = {
  /** Whether its rows can be read, and were complete up to `block` once. */
  ready: boolean;
  /** The indexed head, or the checkpoint where there is no head yet; 0 while there are no views. */
  block: bigint;
  alive: boolean;
  heartbeatAt: bigint | null;
};

/** As long as the read may take, in ms. */
const READ_TIMEOUT_MS = 4500;

const positionRow = z.object({
  ready: z.boolean().nullable(),
  head: z.string().nullable(),
  whole: z.boolean().nullable(),
  checkpoint: z.string().nullable(),
});

/** How far the views' rows are, in one statement; undefined while there are no views. */
async function readViews(deps: Dependencies): Promise<Pick<IndexPosition, "ready" | "block"> | undefined> {
  const { connection, viewsSchema, deployment } = deps;
  const views = sql.identifier(viewsSchema);
  const { chainId } = deployment;
  const db = drizzle(connection.sql, { casing: "snake_case" });
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
    // Without a head that all rows are of, there is no "now", and nothing can be read yet.
    return { ready: ready === true && whole === true, block: BigInt(head ?? checkpoint ?? 0) };
  } catch (error) {
    if (isConnectionError(error)) throw databaseUnavailable(error);
    if (!isNotBuilt(error)) throw error;
    return undefined;
  }
}

const lifeRow = z.object({
  heartbeat: z.string().nullable(),
  seconds: z.number().nullable(),
});

/** The newest sign of life of any indexer of these views: one may build while another serves. */
async function readLife({ connection, viewsSchema, deployment }: Dependencies) {
  const [row] = await fromDatabase(() =>
    connection.db.execute(sql`
      select floor(extract(epoch from max(heartbeat_at)))::text as heartbeat,
        extract(epoch from now() - max(coalesce(heartbeat_at, started_at)))::float8 as seconds
      from service.indexer_deployment
      where views_schema = ${viewsSchema} and chain_id = ${deployment.chainId}`),
  );
  const { heartbeat, seconds } = lifeRow.parse(row);
  return {
    alive: seconds !== null && seconds <= DEAD_AFTER_SECONDS,
    heartbeatAt: heartbeat === null ? null : BigInt(heartbeat),
  };
}

/**
 * Reads how far the index is and whether its indexer lives.
 * @throws ApiError `database_unavailable`, or `indexer_unavailable` when none was started
 */
export async function readIndexPosition(deps: Dependencies): Promise<IndexPosition> {
  const [views, life] = await Promise.all([readViews(deps), readLife(deps)]);
  if (views) return { ...views, ...life };
  const reason = await absentIndex(deps.connection.db, deps.viewsSchema, deps.deployment.chainId);
  if (reason.code !== "indexer_syncing") throw reason;
  return { ready: false, block: 0n, ...life };
}

/** The status that follows from the index's position and the chain's head, at the wall clock's time in ms. */
export function indexerStatus(
  position: IndexPosition,
  head: Pick<ChainHead, "number" | "timestamp">,
  nowMs: number,
): IndexerStatus {
  const lastSyncedBlock = position.block;
  // The head that requests share can be older than what the index has read since.
  const lagBlocks = head.number > lastSyncedBlock ? head.number - lastSyncedBlock : 0n;
  const headBlock = lastSyncedBlock + lagBlocks;
  return {
    ...judge(position, lagBlocks, BigInt(Math.floor(nowMs / 1000)) - head.timestamp),
    lastSyncedBlock,
    headBlock,
    lagBlocks,
  };
}

function judge(
  { ready, alive }: IndexPosition,
  lagBlocks: bigint,
  headAge: bigint,
): Pick<IndexerStatus, "status" | "condition"> {
  if (!alive) return { status: ready ? "lagging" : "syncing", condition: "down" };
  if (!ready) return { status: "syncing", condition: "backfilling" };
  if (lagBlocks > LAG_LIMIT) return { status: "lagging", condition: "behind" };
  return { status: "synced", condition: headAge > QUIET_AFTER_SECONDS ? "quiet" : "caught_up" };
}
