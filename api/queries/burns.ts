import { burnExecution, type burnSources, tokenBurn } from "../../ponder.schema.ts";
import type { FeedPage, Position } from "../schemas/paging.ts";
import type { IndexQuery } from "./index-reader.ts";
import { walkBack } from "./paging.ts";

/** Burned tokens, newest first, one further than `limit`. Served by the primary key or the index on the source. */
export function readBurns(
  db: IndexQuery,
  { source, limit, offset, cursor }: FeedPage & { source?: (typeof burnSources)[number] | undefined },
) {
  const { where, orderBy } = walkBack(tokenBurn, [[tokenBurn.source, source]], { cursor });
  return db
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
    .offset(offset);
}

/**
 * What the burners said of their burns since `from` (Unix seconds; undefined for all), newest first, one further than
 * `limit`. Served by the primary key.
 */
export function readPricePoints(
  db: IndexQuery,
  from: bigint | undefined,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
) {
  const { where, orderBy } = walkBack(burnExecution, [], { cursor, since: from });
  return db
    .select({
      source: burnExecution.source,
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
    .limit(limit + 1);
}
