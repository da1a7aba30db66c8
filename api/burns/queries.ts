import { desc, sql } from "drizzle-orm";
import { isWhole } from "../../lib/indexed/head.ts";
import { burnExecution, type burnSources, head, tokenBurn } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always, behind, walkBack } from "../index/walk.ts";

export type BurnQuery = FeedPage & { readonly source?: (typeof burnSources)[number] | undefined };

/** Burned tokens, newest first, one further than `limit`. Served by the primary key or the index on the source. */
export function readBurns(db: IndexQuery, { source, limit, offset, cursor }: BurnQuery) {
  const { where, orderBy } = walkBack(tokenBurn, [[tokenBurn.source, source]], behind(cursor));
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
  return db
    .select()
    .from(head)
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex));
}

/**
 * What the burners said of their burns in the last `seconds` before the indexed head (null for all), newest first, one
 * further than `limit`. Served by the primary key.
 */
export function readPricePoints(db: IndexQuery, seconds: bigint | null, { limit, offset, cursor }: FeedPage) {
  const { where, orderBy } = walkBack(
    burnExecution,
    [],
    behind(cursor),
    seconds === null ? undefined : sql`(select timestamp - ${String(seconds)} from ${head})`,
  );
  const page = db
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
