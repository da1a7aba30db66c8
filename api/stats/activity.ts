import { and, desc, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { activitySources, type activityTypes, policy } from "../../ponder.schema.ts";
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
 * Reads the unified feed, newest first, one row more than `limit`. Merges a page from each source, each along its own index
 * by position or by actor and position: Postgres would read the whole view to sort it.
 */
export function readActivity(
  db: IndexQuery,
  { limit, offset, cursor, type, actor, since, from = since, to }: ActivityFilter & FeedPage,
) {
  const period = { from: since !== undefined && from !== undefined && since > from ? since : from, to };
  const [first, second, ...others] = activitySources.map(({ table, ...source }) => {
    const keys = [[source.actor, actor && lower(actor)]] as const;
    const { where, orderBy } = walkBack(table, keys, after(cursor), period);
    return db
      .select({
        type: sql<typeof source.type>`${sql.raw(`'${source.type}'`)}::text`.as("type"),
        actor: sql<Address>`${source.actor}`.as("actor"),
        amount: sql`${sql.raw(source.amount)}`.mapWith(policy.coverage).as("amount"),
        ref: sql<string>`${sql.raw(source.ref)}`.as("ref"),
        txHash: table.txHash,
        blockNumber: table.blockNumber,
        blockTimestamp: table.blockTimestamp,
        logIndex: table.logIndex,
      })
      .from(table)
      .where(and(where, sql.raw(source.where ?? "true"), sql.raw(String(!type || type === source.type))))
      .orderBy(...orderBy)
      .limit(offset + limit + 1);
  });
  if (!first || !second) throw new Error("the activity feed has fewer than two sources");
  const page = unionAll(first, second, ...others)
    .orderBy(desc(policy.blockNumber), desc(policy.logIndex))
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
