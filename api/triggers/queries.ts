import { and, desc, eq } from "drizzle-orm";
import { isWhole } from "../../lib/indexed/head.ts";
import { head, policyTrigger, product, triggerSubmission } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always, behind, walkBack } from "../index/walk.ts";

/**
 * Submissions of triggers, newest first, one further than `limit`, each with what it paid: a policy is triggered once.
 * Served by the primary key, and by the index on the policy for the payout.
 */
export function readTriggers(db: IndexQuery, { limit, offset, cursor }: FeedPage) {
  const { where, orderBy } = walkBack(triggerSubmission, [], behind(cursor));
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
      ),
    )
    .leftJoin(product, eq(product.productId, triggerSubmission.productId))
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
