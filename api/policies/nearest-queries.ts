/** Finds the policies whose price is nearest to their trigger. */
import { and, asc, count, desc, eq, gt, isNotNull, type SQL, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { hasStatus } from "../../lib/indexed/policy-status.ts";
import { oracleFeed, policy } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { selectPolicies } from "./queries.ts";

export type NearestPage = {
  readonly product?: Hex | undefined;
  readonly asset?: Hex | undefined;
  readonly limit: number;
  readonly offset: number;
};

/** The active policies of a page's product and asset with a known distance, at `now` (Unix seconds). */
const isNear = ({ product, asset }: NearestPage, now: bigint): SQL | undefined =>
  and(
    hasStatus(policy, "Active", now),
    isNotNull(policy.triggerPrice),
    gt(oracleFeed.answer, 0n),
    product && eq(policy.productId, product),
    asset && eq(policy.asset, asset),
  );

/**
 * Reads the policies that are active at `now` (Unix seconds), those whose price has to fall least at the front, then by their
 * deadline, and how many there are in all. Reads each open policy, by the index on the expiry, and no other: their number
 * does not grow with history.
 *
 * @param db in a transaction of one snapshot
 */
export async function readNearest(db: IndexQuery, page: NearestPage, now: bigint) {
  const where = isNear(page, now);
  const [rows, [counted]] = await Promise.all([
    selectPolicies(db)
      .where(where)
      .orderBy(
        desc(sql`${policy.triggerPrice} / ${oracleFeed.answer}`),
        asc(policy.expiresAt),
        asc(policy.productId),
        asc(policy.policyId),
      )
      .limit(page.limit)
      .offset(page.offset),
    db
      .select({ total: count() })
      .from(policy)
      .innerJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
      .where(where),
  ]);
  return { rows, total: counted?.total ?? 0 };
}
