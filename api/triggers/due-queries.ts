import { and, eq, sql } from "drizzle-orm";
import type { Hex } from "viem";
import { byDeadline, findDueRows } from "../../lib/indexed/due.ts";
import { oracleFeed, policy, product } from "../../ponder.schema.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { metAt, newestFallen } from "./fallen-rounds.ts";

/** The place of a policy in the order of deadlines. */
export type Deadline = { readonly expiresAt: bigint; readonly productId: Hex; readonly policyId: bigint };

export type DuePage = {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: Deadline | undefined;
};

/** Policies behind a place; postgres.js sends a bigint as an int8, which is too small. */
const behind = ({ expiresAt, productId, policyId }: Deadline) =>
  sql`(${policy.expiresAt}, ${policy.productId}, ${policy.policyId})
    > (${String(expiresAt)}, ${productId}, ${String(policyId)})`;

/**
 * Reads the due policies, those that expire first at the front, one row more than `limit`, each with its newest rounds. Uses the
 * index on the expiry, and stops at the page's end: the proofs of later policies are not looked for.
 *
 * @param db in a transaction of one snapshot
 */
export async function readDuePage(db: IndexQuery, { limit, offset, cursor }: DuePage) {
  const found = await findDueRows(db);
  if (found?.rows === undefined) return [];
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
      metAt: metAt(),
      rounds: newestFallen(),
    })
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, policy.asset))
    .where(and(found.rows.isDue, cursor && behind(cursor)))
    .orderBy(...byDeadline)
    .limit(limit + 1)
    .offset(offset);
}

export type DueRow = Awaited<ReturnType<typeof readDuePage>>[number];
