import { type burnSources, tokenBurn } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";

export type BurnQuery = FeedPage & { readonly source?: (typeof burnSources)[number] | undefined };

/** Reads burns, newest first, one row more than `limit`. Uses the primary key, or the index on the source. */
export function readBurns(db: IndexQuery, { source, limit, offset, cursor, ...period }: BurnQuery) {
  const { where, orderBy } = walkBack(tokenBurn, [[tokenBurn.source, source]], after(cursor), period);
  const page = db
    .select({
      source: tokenBurn.source,
      burner: tokenBurn.burner,
      tokenAmount: tokenBurn.tokenAmount,
      usdcSpent: tokenBurn.usdcSpent,
      effectivePrice: tokenBurn.effectivePrice,
      txHash: tokenBurn.txHash,
      blockNumber: tokenBurn.blockNumber,
      blockTimestamp: tokenBurn.blockTimestamp,
      logIndex: tokenBurn.logIndex,
    })
    .from(tokenBurn)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
