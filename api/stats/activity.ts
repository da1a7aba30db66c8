import { desc } from "drizzle-orm";
import type { Address } from "viem";
import { isWhole } from "../../lib/indexed/head.ts";
import { lower } from "../../lib/lower.ts";
import { activity, type activityTypes, head } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always, behind, walkBack } from "../index/walk.ts";

export type ActivityFilter = {
  readonly type?: (typeof activityTypes)[number] | undefined;
  readonly actor?: Address | undefined;
  /** Unix seconds. */
  readonly since?: bigint | undefined;
};

/**
 * Entries of the unified feed, newest first, one further than `limit`. Served by the primary key, or by the index on
 * actor, type or both.
 */
export function readActivity(
  db: IndexQuery,
  { limit, offset, cursor, type, actor, since }: ActivityFilter & FeedPage,
) {
  const keys = [
    [activity.actor, actor && lower(actor)],
    [activity.type, type],
  ] as const;
  const { where, orderBy } = walkBack(activity, keys, behind(cursor), since);
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
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return db
    .select()
    .from(head)
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex));
}
