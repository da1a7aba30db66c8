import { eq } from "drizzle-orm";
import { policyTrigger, product } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";

/** Reads paid policies, the newest first, one row more than `limit`. Uses the primary key. */
export function readTriggers(db: IndexQuery, { limit, offset, cursor, ...period }: FeedPage) {
  const { where, orderBy } = walkBack(policyTrigger, [], after(cursor), period);
  const page = db
    .select({
      productId: policyTrigger.productId,
      productName: product.name,
      policyId: policyTrigger.policyId,
      submitter: policyTrigger.submitter,
      buyer: policyTrigger.buyer,
      bondEpochId: policyTrigger.bondEpochId,
      bondAmount: policyTrigger.bondAmount,
      txHash: policyTrigger.txHash,
      blockNumber: policyTrigger.blockNumber,
      blockTimestamp: policyTrigger.blockTimestamp,
      logIndex: policyTrigger.logIndex,
    })
    .from(policyTrigger)
    .leftJoin(product, eq(product.productId, policyTrigger.productId))
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
