import { and, eq, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { byLastMoment, findDueRows, lastMoment } from "../../lib/indexed/due.ts";
import { oracleFeed, policy, product } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";

/** The place of a policy in the order of last moments. */
export type LastMoment = { readonly lastMoment: bigint; readonly productId: Hex; readonly policyId: bigint };

export type DuePage = {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: LastMoment | undefined;
};

/** Policies behind a place; postgres.js sends a bigint as an int8, which is too small. */
const behind = (place: LastMoment) =>
  sql`(${lastMoment()}, ${policy.productId}, ${policy.policyId})
    > (${String(place.lastMoment)}::numeric, ${place.productId}, ${String(place.policyId)}::numeric)`;

/**
 * Reads the due policies by their last moments, one row more than `limit`. Reads the open policies only, by the index on the expiry.
 *
 * @param db in a transaction of one snapshot
 */
export async function readDuePage(db: IndexQuery, { limit, offset, cursor }: DuePage) {
  const found = await findDueRows(db);
  if (found?.isDue === undefined) return [];
  return db
    .select({
      productId: policy.productId,
      productName: product.name,
      policyId: policy.policyId,
      buyer: policy.buyer,
      coverage: policy.coverage,
      payout: policy.payout,
      // A due policy has all three: they are part of the condition.
      strike: sql<bigint>`${policy.strike}`.mapWith(policy.strike),
      triggerPrice: sql<bigint>`${policy.triggerPrice}`.mapWith(policy.triggerPrice),
      expiresAt: sql<bigint>`${policy.expiresAt}`.mapWith(policy.expiresAt),
      answer: oracleFeed.answer,
      answeredAt: oracleFeed.updatedAt,
      observations: policy.observations,
      observedAt: policy.observedAt,
      lastMoment: lastMoment(),
    })
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
    .where(and(found.isDue, cursor && behind(cursor)))
    .orderBy(...byLastMoment())
    .limit(limit + 1)
    .offset(offset);
}

export type DueRow = Awaited<ReturnType<typeof readDuePage>>[number];
