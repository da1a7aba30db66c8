import { sql } from "drizzle-orm";
import { drizzle } from "drizzle-orm/postgres-js";
import { z } from "zod";
import { isConnectionError } from "../../lib/db/connect.ts";
import { checkpointBlock } from "../../lib/indexed/checkpoint.ts";
import { isNotBuilt } from "../../lib/indexed/errors.ts";
import { DOWN_AFTER_SECONDS } from "../../lib/indexed/heartbeat.ts";
import { within } from "../../lib/timeout.ts";
import type { AsOf } from "../chain/block.ts";
import type { ArrivedHead } from "../chain/chain-reads.ts";
import { databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import { readHead } from "./head.ts";
import { readAtLastBlock } from "./last-block.ts";
import { absentIndex, type IndexQuery, type IndexReaderParts, throughSwap } from "./reader.ts";

/** Blocks behind the chain's head above which the index counts as lagging. */
export const LAG_LIMIT = 10n;

/** Time without a new block after which the chain counts as quiet, in ms. */
const QUIET_AFTER_MS = 60_000;

export const indexerConditions = [
  "backfilling",
  "catching_up",
  "caught_up",
  "quiet",
  "behind",
  "down",
] as const;

/**
 * The index's status: `syncing` while nothing can be read, then by its distance to the chain's head and its heartbeat.
 * `condition` says why.
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
  /** Whether reads see the index, or, while it catches up after a start, the last block before; or nothing. */
  reads: "newest" | "last" | "nothing";
  /** The block that reads see, or the checkpoint while they see nothing; 0 without views. */
  block: bigint;
  /** The time of the block that reads see, Unix seconds. */
  timestamp: bigint | undefined;
  alive: boolean;
  heartbeatAt: bigint | null;
};

/** Timeout of the read, in ms. */
const READ_TIMEOUT_MS = 4500;

const checkpointRow = z.object({ block: z.coerce.bigint() });

type Reads = Pick<IndexPosition, "reads" | "block" | "timestamp">;

/** Reads what reads see now. Undefined without views. */
async function readPosition(parts: IndexReaderParts): Promise<Reads | undefined> {
  const { indexConnection, standby, viewsSchema, deployment } = parts;
  const views = sql.identifier(viewsSchema);
  const { chainId } = deployment;
  const db = drizzle(indexConnection.sql, { casing: "snake_case" });
  const begun = performance.now();
  const read = async (on: IndexQuery) => {
    const asOf = await readHead(on, chainId);
    return asOf && { asOf };
  };
  const bounded = <T>(query: () => Promise<T>) =>
    within(READ_TIMEOUT_MS, throughSwap(query), databaseUnavailable);
  try {
    const ways = [
      ["newest", async () => standby?.read(read)],
      ["newest", () => read(db)],
      ["last", () => readAtLastBlock(parts, db, read)],
      // It may have caught up meanwhile.
      ["newest", () => read(db)],
    ] as const;
    for (const [reads, query] of ways) {
      const found = await bounded<{ asOf: AsOf } | undefined>(query);
      if (!found) continue;
      const { asOf } = found;
      standby?.learn(asOf, begun);
      return { reads, block: asOf.number, timestamp: asOf.timestamp };
    }
    const checkpoints = await bounded(async () =>
      db.execute(sql`
        select ${checkpointBlock(sql`latest_checkpoint`)}::text as block
        from ${views}."_ponder_checkpoint" where chain_id = ${chainId}`),
    );
    const [checkpoint] = z.array(checkpointRow).parse([...checkpoints]);
    return { reads: "nothing", block: checkpoint?.block ?? 0n, timestamp: undefined };
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
  const [views, heartbeat] = await Promise.all([readPosition(parts), readHeartbeat(parts)]);
  if (views) return { ...views, ...heartbeat };
  const reason = await absentIndex(parts.connection.sql, parts.viewsSchema, parts.deployment.chainId);
  if (reason.code !== "indexer_syncing") throw reason;
  return { reads: "nothing", block: 0n, timestamp: undefined, ...heartbeat };
}

/** The status that follows from the index's position and the chain's head. `now` as `arrivedAt` of the head. */
export function indexerStatus(
  position: IndexPosition,
  head: Pick<ArrivedHead, "number" | "arrivedAt">,
  now = performance.now(),
): IndexerStatus {
  const lastSyncedBlock = position.block;
  // The shared head can be older than the index.
  const lagBlocks = head.number > lastSyncedBlock ? head.number - lastSyncedBlock : 0n;
  const headBlock = lastSyncedBlock + lagBlocks;
  return {
    ...conditionOf(position, lagBlocks, now - head.arrivedAt),
    lastSyncedBlock,
    headBlock,
    lagBlocks,
  };
}

function conditionOf(
  { reads, alive }: IndexPosition,
  lagBlocks: bigint,
  sinceHeadMs: number,
): Pick<IndexerStatus, "status" | "condition"> {
  if (!alive) return { status: reads === "nothing" ? "syncing" : "lagging", condition: "down" };
  if (reads === "nothing") return { status: "syncing", condition: "backfilling" };
  if (reads === "last") return { status: "lagging", condition: "catching_up" };
  if (lagBlocks > LAG_LIMIT) return { status: "lagging", condition: "behind" };
  return { status: "synced", condition: sinceHeadMs > QUIET_AFTER_MS ? "quiet" : "caught_up" };
}
