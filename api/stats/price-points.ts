import { sql } from "drizzle-orm";
import { burnExecution, head } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";

/**
 * Reads the burner's reports of its burns within `seconds` before the indexed head (null for all) and within the
 * page's period, newest first, one row more than `limit`. Uses the primary key.
 */
export function readPricePoints(
  db: IndexQuery,
  seconds: bigint | null,
  { limit, offset, cursor, from, to }: FeedPage,
) {
  const { where, orderBy } = walkBack(burnExecution, [], after(cursor), {
    from:
      seconds === null
        ? from
        : sql`(select greatest(timestamp - ${String(seconds)}, ${String(from ?? 0)}) from ${head})`,
    to,
  });
  const page = db
    .select({
      usdcSpent: burnExecution.usdcSpent,
      tokenBurned: burnExecution.tokenBurned,
      effectivePrice: burnExecution.effectivePrice,
      txHash: burnExecution.txHash,
      blockNumber: burnExecution.blockNumber,
      blockTimestamp: burnExecution.blockTimestamp,
      logIndex: burnExecution.logIndex,
    })
    .from(burnExecution)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
