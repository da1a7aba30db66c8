import { and, desc, eq } from "drizzle-orm";
import { burnExecution, type burnSources, tokenBurn } from "../../ponder.schema.ts";
import type { FeedPage, Position } from "../schemas/paging.ts";
import type { IndexQuery } from "./index-reader.ts";
import { behind, since } from "./paging.ts";

/** Burned tokens, newest first, one further than `limit`. Served by the primary key or the index on the source. */
export const readBurns = (
  db: IndexQuery,
  { source, limit, offset, cursor }: FeedPage & { source?: (typeof burnSources)[number] | undefined },
) =>
  db
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
    .where(and(source && eq(tokenBurn.source, source), behind(tokenBurn, cursor)))
    .orderBy(desc(tokenBurn.blockNumber), desc(tokenBurn.logIndex))
    .limit(limit + 1)
    .offset(offset);

/**
 * What the burners said of their burns since `from` (Unix seconds; undefined for all), newest first, one further than
 * `limit`. Served by the primary key.
 */
export const readPricePoints = (
  db: IndexQuery,
  from: bigint | undefined,
  { limit, cursor }: { limit: number; cursor?: Position | undefined },
) =>
  db
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
    .where(and(since(burnExecution, from), behind(burnExecution, cursor)))
    .orderBy(desc(burnExecution.blockNumber), desc(burnExecution.logIndex))
    .limit(limit + 1);
