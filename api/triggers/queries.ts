import { and, eq } from "drizzle-orm";
import { policyTrigger, product, triggerSubmission } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";

/**
 * Reads submitted triggers, newest first, one row more than `limit`, each with its payout. Uses the primary key, and the
 * index on the policy for the payout.
 */
export function readTriggers(db: IndexQuery, { limit, offset, cursor, ...period }: FeedPage) {
  const { where, orderBy } = walkBack(triggerSubmission, [], after(cursor), period);
  const page = db
    .select({
      productId: triggerSubmission.productId,
      productName: product.name,
      policyId: triggerSubmission.policyId,
      submitter: triggerSubmission.submitter,
      buyer: policyTrigger.buyer,
      bondEpochId: policyTrigger.bondEpochId,
      bondAmount: policyTrigger.bondAmount,
      txHash: triggerSubmission.txHash,
      blockNumber: triggerSubmission.blockNumber,
      blockTimestamp: triggerSubmission.blockTimestamp,
      logIndex: triggerSubmission.logIndex,
    })
    .from(triggerSubmission)
    .leftJoin(
      policyTrigger,
      and(
        eq(policyTrigger.productId, triggerSubmission.productId),
        eq(policyTrigger.policyId, triggerSubmission.policyId),
        // A key that came again has a trigger for each of its policies.
        eq(policyTrigger.txHash, triggerSubmission.txHash),
      ),
    )
    .leftJoin(product, eq(product.productId, triggerSubmission.productId))
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
