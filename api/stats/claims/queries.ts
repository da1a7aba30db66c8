/** Reads the triggered policies. */
import { and, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { isBeforeTrigger, ofTrigger } from "../../../lib/indexed/before-trigger.ts";
import { lower } from "../../../lib/lower.ts";
import { policy, policyObservation, policyTrigger, product } from "../../../ponder.schema.ts";
import type { FeedPage } from "../../http/paging.ts";
import { readFeed } from "../../indexed/feed.ts";
import type { IndexQuery } from "../../indexed/reader.ts";
import { after, walkBack } from "../../indexed/walk.ts";

export type ClaimQuery = FeedPage & {
  readonly product?: Hex | undefined;
  readonly buyer?: Address | undefined;
};

/** The block time of the first of the observations in a row that paid; null for a policy paid without observations. */
const firstObservedAt = sql<string | null>`(
  select ${policyObservation.blockTimestamp}::text from ${policyObservation}
  where ${policyObservation.productId} = ${policyTrigger.productId} and ${policyObservation.policyId} = ${policyTrigger.policyId}
    and ${policyObservation.count} = 1
    and (${policyObservation.blockNumber}, ${policyObservation.logIndex}) < ${ofTrigger}
  order by ${policyObservation.blockNumber} desc, ${policyObservation.logIndex} desc limit 1)`;

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
      submitter: policyTrigger.submitter,
      bondAmount: policyTrigger.bondAmount,
      bondEpochId: policyTrigger.bondEpochId,
      asset: policy.asset,
      coverage: policy.coverage,
      payout: policy.payout,
      premium: policy.premium,
      strike: policy.strike,
      triggerPrice: policy.triggerPrice,
      boughtAt: policy.createdAt,
      firstObservedAt: firstObservedAt.as("first_observed_at"),
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
    .leftJoin(product, eq(product.productId, policyTrigger.productId))
    .where(and(where, productId === undefined ? undefined : eq(policyTrigger.productId, productId)))
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
