import { and, desc, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { isWhole } from "../../lib/indexed/head.ts";
import { lower } from "../../lib/lower.ts";
import { entryById } from "../../lib/products.ts";
import { account, head, policy, product } from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always, behind, walkBack } from "../index/walk.ts";
import type { PolicyRecord } from "./body.ts";

/** A policy out of the index, with the event that made it. What the index could not know is null. */
export type IndexedPolicy = Omit<PolicyRecord, "shield" | "expiresAt"> & {
  shield: Address | null;
  expiresAt: bigint | null;
  txHash: Hex;
  blockNumber: bigint;
  logIndex: number;
};

const columns = {
  productId: policy.productId,
  policyId: policy.policyId,
  shield: policy.shield,
  buyer: policy.buyer,
  coverage: policy.coverage,
  payout: policy.payout,
  premium: policy.premium,
  priceSnapshot: policy.priceSnapshot,
  createdAt: policy.createdAt,
  waitingEndsAt: policy.waitingEndsAt,
  expiresAt: policy.expiresAt,
  triggeredAt: policy.triggeredAt,
  cancelledAt: policy.cancelledAt,
  bondEpochId: policy.bondEpochId,
  txHash: policy.txHash,
  blockNumber: policy.blockNumber,
  logIndex: policy.logIndex,
  productName: product.name,
  productActive: product.active,
  productPaused: product.paused,
};

const selectPolicies = (db: IndexQuery) =>
  db.select(columns).from(policy).leftJoin(product, eq(product.productId, policy.productId));

type Row = Awaited<ReturnType<typeof selectPolicies>>[number];

/** A row as a policy. */
export function toIndexedPolicy({
  cancelledAt,
  productName,
  productActive,
  productPaused,
  ...row
}: Row): IndexedPolicy {
  return {
    ...row,
    cancelled: cancelledAt !== null,
    productName: productName ?? entryById(row.productId)?.name ?? null,
    productActive: productActive === true && productPaused !== true,
  };
}

/** One policy by its key. Served by the primary key. */
export async function findPolicy(
  db: IndexQuery,
  { productId, policyId }: PolicyKey,
): Promise<IndexedPolicy | undefined> {
  const [row] = await selectPolicies(db).where(
    and(eq(policy.productId, productId), eq(policy.policyId, policyId)),
  );
  return row && toIndexedPolicy(row);
}

/**
 * Reads a buyer's policies, newest first, one further than `limit`, and the buyer's account, which tells how many there
 * are. Served by the index on buyer, block and log index. Prepared, for to build it takes longer than to run it.
 */
export function preparePoliciesOf(db: IndexQuery) {
  const owner = sql.placeholder("owner");
  const from = { blockNumber: sql.placeholder("blockNumber"), logIndex: sql.placeholder("logIndex") };
  const { where, orderBy } = walkBack(policy, [[policy.buyer, owner]], from);
  const page = selectPolicies(db)
    .where(where)
    .orderBy(...orderBy)
    .limit(sql.placeholder("rows"))
    .offset(sql.placeholder("offset"))
    .as("page");
  const statement = db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, owner))
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex))
    .prepare("policies_of");
  return ({ buyer, limit, offset, cursor }: FeedPage & { buyer: Address }) =>
    statement.execute({ owner: lower(buyer), ...behind(cursor), rows: limit + 1, offset });
}
