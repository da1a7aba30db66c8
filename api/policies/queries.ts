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
import { after, always, walkBack } from "../indexed/walk.ts";
import { isCompleteRow, policyEntry } from "./entry-json.ts";

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
const selectPolicies = (db: IndexQuery) =>
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

/** A buyer's policies, newest first, one row more than a page has. Uses the index on buyer, block and log index. */
function pageOf(db: IndexQuery) {
  const from = { blockNumber: sql.placeholder("blockNumber"), logIndex: sql.placeholder("logIndex") };
  const { where, orderBy } = walkBack(policy, [[policy.buyer, sql.placeholder("owner")]], from);
  return selectPolicies(db)
    .where(where)
    .orderBy(...orderBy)
    .limit(sql.placeholder("rows"))
    .offset(sql.placeholder("offset"))
    .as("page");
}

export type PolicyPage = FeedPage & { readonly buyer: Address };

const parameters = ({ buyer, limit, offset, cursor }: PolicyPage) => ({
  ...{ owner: lower(buyer), ...after(cursor) },
  ...{ rows: limit + 1, offset },
});

/**
 * Prepares the read of a page of a buyer's policies as JSON, and of the buyer's account, which holds their total.
 * `entries` has a line for each policy and is null without any; `last` is the cursor after as many as the limit. Prepared
 * because building the statement takes longer than running it.
 */
export function preparePolicyEntries(db: IndexQuery) {
  const page = pageOf(db);
  const newestFirst = sql`order by ${page.blockNumber} desc, ${page.logIndex} desc`;
  const position = sql`${page.blockNumber} || '-' || ${page.logIndex}`;
  const entries = db
    .select({
      entries: sql<string | null>`string_agg(${policyEntry(page, sql`${sql.placeholder("buyer")}::text`)}, E'\\n' ${newestFirst})`.as("entries"),
      complete: sql<boolean | null>`bool_and(${isCompleteRow(page)})`.as("complete"),
      last: sql<string | null>`(array_agg(${position} ${newestFirst}))[${sql.placeholder("limit")}::int]`.as(
        "last",
      ),
    })
    .from(page)
    .innerJoin(head, always)
    .as("entries");
  const statement = db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, sql.placeholder("owner")))
    .innerJoin(entries, always)
    .where(isWhole())
    .prepare("policy_entries");
  return (asked: PolicyPage) => statement.execute({ ...parameters(asked), buyer: asked.buyer, limit: asked.limit });
}

/** As {@link preparePolicyEntries}, with the policies as rows. */
export function preparePoliciesOf(db: IndexQuery) {
  const page = pageOf(db);
  const statement = db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, sql.placeholder("owner")))
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex))
    .prepare("policies_of");
  return (asked: PolicyPage) => statement.execute(parameters(asked));
}
