import { and, desc, eq } from "drizzle-orm";
import type { Address } from "viem";
import { activity, type activityTypes } from "../../ponder.schema.ts";
import type { FeedPage } from "../schemas/paging.ts";
import { lower } from "./address.ts";
import type { IndexQuery } from "./index-reader.ts";
import { behind, since } from "./paging.ts";

export type ActivityFilter = {
  readonly type?: (typeof activityTypes)[number] | undefined;
  readonly actor?: Address | undefined;
  /** Unix seconds. */
  readonly since?: bigint | undefined;
};

/**
 * Entries of the unified feed, newest first, one further than `limit`. Served by the primary key, or by the index on
 * actor, type or both, walked backwards.
 */
export const readActivity = (
  db: IndexQuery,
  { limit, offset, cursor, ...filter }: ActivityFilter & FeedPage,
) =>
  db
    .select({
      type: activity.type,
      actor: activity.actor,
      amount: activity.amount,
      ref: activity.ref,
      txHash: activity.txHash,
      blockNumber: activity.blockNumber,
      blockTimestamp: activity.blockTimestamp,
      logIndex: activity.logIndex,
    })
    .from(activity)
    .where(
      and(
        filter.actor && eq(activity.actor, lower(filter.actor)),
        filter.type && eq(activity.type, filter.type),
        since(activity, filter.since),
        behind(activity, cursor),
      ),
    )
    .orderBy(desc(activity.blockNumber), desc(activity.logIndex))
    .limit(limit + 1)
    .offset(offset);
