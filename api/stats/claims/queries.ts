/** Reads the triggered policies. */
import { and, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { isBeforeTrigger, ofTrigger } from "../../../lib/indexed/before-trigger.ts";
import { firstRounds } from "../../../lib/indexed/first-rounds.ts";
import { lower } from "../../../lib/lower.ts";
import { CONFIRMATIONS } from "../../../lib/price-rules.ts";
import { policy, policyTrigger, product, triggerSubmission } from "../../../ponder.schema.ts";
import type { FeedPage } from "../../http/paging.ts";
import { readFeed } from "../../indexed/feed.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { after, walkBack } from "../../indexed/walk.ts";

export type ClaimQuery = FeedPage & {
  readonly product?: Hex | undefined;
  readonly buyer?: Address | undefined;
};

/**
 * The block time since when three rounds at or below the policy's trigger price counted; of rounds before the trigger, so that a
 * phase that began later changes nothing.
 */
const provenAt = sql<string | null>`(
  select case when count(*) = ${sql.raw(String(CONFIRMATIONS))} then max(n.block_timestamp)::text end
  from (${firstRounds(sql`and (r.block_number, r.log_index) < ${ofTrigger}`)}) n)`;

/**
 * Reads triggered policies, the newest first, one row more than `limit`, each with its policy where the index has it. Walks
 * the primary key, or the index on the buyer or the product; of a buyer's claims those of other products are skipped.
 */
export function readClaims(
  db: IndexQuery,
  { limit, offset, cursor, product: productId, buyer, ...period }: ClaimQuery,
) {
  const key =
    buyer === undefined
      ? ([policyTrigger.productId, productId] as const)
      : ([policyTrigger.buyer, lower(buyer)] as const);
  const { where, orderBy } = walkBack(policyTrigger, [key], after(cursor), period);
  const page = db
    .select({
      productId: policyTrigger.productId,
      productName: product.name,
      policyId: policyTrigger.policyId,
      buyer: policyTrigger.buyer,
      submitter: triggerSubmission.submitter,
      bondAmount: policyTrigger.bondAmount,
      bondEpochId: policyTrigger.bondEpochId,
      asset: policy.asset,
      coverage: policy.coverage,
      payout: policy.payout,
      premium: policy.premium,
      strike: policy.strike,
      triggerPrice: policy.triggerPrice,
      boughtAt: policy.createdAt,
      provenAt: provenAt.as("proven_at"),
      txHash: policyTrigger.txHash,
      blockNumber: policyTrigger.blockNumber,
      blockTimestamp: policyTrigger.blockTimestamp,
      logIndex: policyTrigger.logIndex,
    })
    .from(policyTrigger)
    .leftJoin(
      policy,
      and(
        eq(policy.productId, policyTrigger.productId),
        eq(policy.policyId, policyTrigger.policyId),
        isBeforeTrigger,
      ),
    )
    .leftJoin(
      triggerSubmission,
      and(
        eq(triggerSubmission.productId, policyTrigger.productId),
        eq(triggerSubmission.policyId, policyTrigger.policyId),
        eq(triggerSubmission.txHash, policyTrigger.txHash),
      ),
    )
    .leftJoin(product, eq(product.productId, policyTrigger.productId))
    .where(and(where, productId === undefined ? undefined : eq(policyTrigger.productId, productId)))
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
