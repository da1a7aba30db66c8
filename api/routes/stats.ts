import { getAddress } from "viem";
import type { Dependencies } from "../dependencies.ts";
import type { Api } from "../env.ts";
import { readActivity } from "../queries/activity.ts";
import { indexerStatus, readIndexPosition } from "../queries/indexer-status.ts";
import type { Readers } from "../readers.ts";
import { activityRoute, indexerHealthRoute } from "./stats.routes.ts";

/** Entries of the feed. */
const FEED_LENGTH = 100;

/** The index's own position, and the feed of what happened. */
export function addStatsRoutes(app: Api, deps: Dependencies, readers: Readers): void {
  app.openapi(indexerHealthRoute, async (c) => {
    const [position, head] = await Promise.all([readIndexPosition(deps), readers.chain.recentHead()]);
    const { status, lastSyncedBlock, headBlock, lagBlocks } = indexerStatus(position, head);
    c.header("Cache-Control", "no-store");
    return c.json(
      {
        status,
        lastSyncedBlock: String(lastSyncedBlock),
        headBlock: String(headBlock),
        lagBlocks: String(lagBlocks),
      },
      200,
    );
  });

  app.openapi(activityRoute, async (c) => {
    const { asOf, value } = await readers.index.read((db) => readActivity(db, FEED_LENGTH));
    c.header("x-indexed-block", String(asOf.number));
    const events = value.map((event) => ({
      type: event.type,
      actor: getAddress(event.actor),
      amount: String(event.amount),
      ref: event.ref,
      tx_hash: event.txHash,
      block_number: String(event.blockNumber),
      block_timestamp: String(event.blockTimestamp),
    }));
    return c.json({ events, count: events.length }, 200);
  });
}
