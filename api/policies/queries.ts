import { and, desc, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { isDue } from "../../lib/indexed/due.ts";
import { isWhole } from "../../lib/indexed/head.ts";
import { lower } from "../../lib/lower.ts";
import { entryById } from "../../lib/products.ts";
import { account, head, oracleFeed, policy, product } from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import type { PolicyRecord } from "../chain/policy-body.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, always, type WalkPeriod, walkBack } from "../indexed/walk.ts";

/** A policy in the index, with its purchase event. Fields that the index cannot know are null. */
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
  strike: policy.strike,
  triggerPrice: policy.triggerPrice,
  answer: oracleFeed.answer,
  answeredAt: oracleFeed.updatedAt,
  due: isDue().as("due"),
  txHash: policy.txHash,
  blockNumber: policy.blockNumber,
  logIndex: policy.logIndex,
  productName: product.name,
  productActive: product.active,
  productPaused: product.paused,
};

/** Rows of policies, each with its product and the newest round of its asset's feed. */
export const selectPolicies = (db: IndexQuery) =>
  db
    .select(columns)
    .from(policy)
    .leftJoin(product, eq(product.productId, policy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, policy.asset));

type Row = Awaited<ReturnType<typeof selectPolicies>>[number];

/** Makes a policy from a row. */
export function toIndexedPolicy({
  cancelledAt,
  productName,
  productActive,
  productPaused,
  answer,
  answeredAt,
  ...row
}: Row): IndexedPolicy {
  return {
    ...row,
    cancelled: cancelledAt !== null,
    productName: productName ?? entryById(row.productId)?.name ?? null,
    productActive: productActive === true && productPaused !== true,
    current: answer === null || answeredAt === null ? null : assetPrice(answer, answeredAt),
  };
}

/** Reads one policy by its key. Uses the primary key. The id is sent as text: postgres.js sends every bigint as an int8. */
export async function findPolicy(
  db: IndexQuery,
  { productId, policyId }: PolicyKey,
): Promise<IndexedPolicy | undefined> {
  const [row] = await selectPolicies(db).where(
    and(eq(policy.productId, productId), eq(policy.policyId, sql`${String(policyId)}`)),
  );
  return row && toIndexedPolicy(row);
}

/** Prepares a statement under a name of its own. Without a period it has nothing to search for in the index. */
function preparePage(db: IndexQuery, name: string, period: WalkPeriod) {
  const owner = sql.placeholder("owner");
  const start = { blockNumber: sql.placeholder("blockNumber"), logIndex: sql.placeholder("logIndex") };
  const { where, orderBy } = walkBack(policy, [[policy.buyer, owner]], start, period);
  const page = selectPolicies(db)
    .where(where)
    .orderBy(...orderBy)
    .limit(sql.placeholder("rows"))
    .offset(sql.placeholder("offset"))
    .as("page");
  return db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, owner))
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex))
    .prepare(name);
}

/** Later than every block, Unix seconds. */
const NO_TIME = 10n ** 15n;

/**
 * Prepares the read of a buyer's policies, newest first, one row more than `limit`, and the buyer's account, which holds
 * their total. Uses the index on buyer, block and log index. Prepared because building the statement takes longer than
 * running it.
 */
export function preparePoliciesOf(db: IndexQuery) {
  const all = preparePage(db, "policies_of", {});
  const within = preparePage(db, "policies_of_period", {
    from: sql.placeholder("from"),
    to: sql.placeholder("to"),
  });
  return ({ buyer, limit, offset, cursor, from, to }: FeedPage & { buyer: Address }) => {
    const page = { owner: lower(buyer), ...after(cursor), rows: limit + 1, offset };
    if (from === undefined && to === undefined) return all.execute(page);
    return within.execute({ ...page, from: String(from ?? 0), to: String(to ?? NO_TIME) });
  };
}
