import { desc } from "drizzle-orm";
import { activity } from "../../ponder.schema.ts";
import type { IndexQuery } from "./index-reader.ts";

/** The newest entries of the unified feed, newest first. Served by the primary key, walked backwards. */
export const readActivity = (db: IndexQuery, limit: number) =>
  db
    .select({
      type: activity.type,
      actor: activity.actor,
      amount: activity.amount,
      ref: activity.ref,
      txHash: activity.txHash,
      blockNumber: activity.blockNumber,
      blockTimestamp: activity.blockTimestamp,
    })
    .from(activity)
    .orderBy(desc(activity.blockNumber), desc(activity.logIndex))
    .limit(limit);
