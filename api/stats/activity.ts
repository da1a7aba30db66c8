import { and, eq } from "drizzle-orm";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { activity, type activityTypes } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";

export type ActivityFilter = {
  readonly type?: (typeof activityTypes)[number] | undefined;
  readonly actor?: Address | undefined;
  /** The older name of `from`; of both the later one counts. */
  readonly since?: bigint | undefined;
};

/**
 * Reads the unified feed, newest first, one row more than `limit`. Merges walks along an index of each kind's own table, by
 * position or by actor and position. A type leaves one of the tables.
 */
export function readActivity(
  db: IndexQuery,
  { limit, offset, cursor, type, actor, since, from = since, to }: ActivityFilter & FeedPage,
) {
  const keys = [[activity.actor, actor && lower(actor)]] as const;
  const { where, orderBy } = walkBack(activity, keys, after(cursor), {
    from: since !== undefined && from !== undefined && since > from ? since : from,
    to,
  });
  const page = db
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
    .where(and(where, type && eq(activity.type, type)))
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
