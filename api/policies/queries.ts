import { and, desc, eq, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { isDue } from "../../lib/indexed/due.ts";
import { lower } from "../../lib/lower.ts";
import { entryById } from "../../lib/products.ts";
import { account, head, oracleFeed, policy, product, replacedPolicy } from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import type { PolicyRecord } from "../chain/policy-body.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, always, firstRows, walkBack } from "../indexed/walk.ts";

/** A policy in the index, with its purchase event. Fields that the index cannot know are null. */
export type IndexedPolicy = Omit<PolicyRecord, "shield" | "expiresAt" | "replaced"> & {
  replaced: boolean;
  shield: Address | null;
  expiresAt: bigint | null;
  txHash: Hex;
  blockNumber: bigint;
  logIndex: number;
};

const columnsOf = <Table extends typeof policy | typeof replacedPolicy>(table: Table) => ({
  productId: table.productId,
  policyId: table.policyId,
  shield: table.shield,
  buyer: table.buyer,
  coverage: table.coverage,
  payout: table.payout,
  premium: table.premium,
  priceSnapshot: table.priceSnapshot,
  createdAt: table.createdAt,
  expiresAt: table.expiresAt,
  triggeredAt: table.triggeredAt,
  bondEpochId: table.bondEpochId,
  strike: table.strike,
  triggerPrice: table.triggerPrice,
  txHash: table.txHash,
  blockNumber: table.blockNumber,
  logIndex: table.logIndex,
  answer: oracleFeed.answer,
  answeredAt: oracleFeed.updatedAt,
  productName: product.name,
  productActive: product.active,
});

const columns = {
  ...columnsOf(policy),
  due: isDue().as("due"),
  replaced: sql<boolean>`false`.as("replaced"),
};

const replacedColumns = {
  ...columnsOf(replacedPolicy),
  due: sql<boolean>`false`.as("due"),
  replaced: sql<boolean>`true`.as("replaced"),
};

const itsProduct = eq(product.productId, policy.productId);
const itsFeed = eq(oracleFeed.asset, policy.asset);

/** Rows of policies, each with its product and the newest round of its asset's feed. */
export const selectPolicies = (db: IndexQuery) =>
  db.select(columns).from(policy).leftJoin(product, itsProduct).leftJoin(oracleFeed, itsFeed);

/** Rows of the policies whose key has come again, as {@link selectPolicies}. */
export const selectReplaced = (db: IndexQuery) =>
  db
    .select(replacedColumns)
    .from(replacedPolicy)
    .leftJoin(product, eq(product.productId, replacedPolicy.productId))
    .leftJoin(oracleFeed, eq(oracleFeed.asset, replacedPolicy.asset));

type Row = Awaited<ReturnType<typeof selectPolicies>>[number];

/** Makes a policy from a row. */
export function toIndexedPolicy({
  productName,
  productActive,
  answer,
  answeredAt,
  ...row
}: Row): IndexedPolicy {
  return {
    ...row,
    triggered: row.triggeredAt !== null,
    productName: productName ?? entryById(row.productId)?.name ?? null,
    productActive: productActive === true,
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

export type PolicyPage = FeedPage & { readonly buyer: Address };

/** Lengths of pages for which a statement is prepared; a shorter page reads more rows than it shows. */
const PAGE_SIZES = [10, 50, 100];

/** The head, the buyer's account, and one row more than `size` of each table of policies, the newest first. */
function prepareSize(db: IndexQuery, size: number) {
  const owner = sql.placeholder("owner");
  const start = { blockNumber: sql.placeholder("blockNumber"), logIndex: sql.placeholder("logIndex") };
  const kept = walkBack(policy, [[policy.buyer, owner]], start);
  const replaced = walkBack(replacedPolicy, [[replacedPolicy.buyer, owner]], start);
  const page = unionAll(
    selectPolicies(db)
      .where(kept.where)
      .orderBy(firstRows(kept.orderBy, size + 1)),
    selectReplaced(db)
      .where(replaced.where)
      .orderBy(firstRows(replaced.orderBy, size + 1)),
  ).as("page");
  return db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, owner))
    .leftJoin(page, always)
    .orderBy(desc(page.blockNumber), desc(page.logIndex))
    .prepare(`policies_${size}`);
}

/**
 * Prepares the read of a buyer's newest policies after a cursor, with the buyer's account, which holds their total. Prepared because
 * building the statement takes longer than running it.
 */
export function prepareBuyerPage(db: IndexQuery) {
  const statements = PAGE_SIZES.map((size) => ({ size, statement: prepareSize(db, size) }));
  return ({ buyer, limit, cursor }: PolicyPage) => {
    const found = statements.find(({ size }) => size >= limit);
    if (!found) throw new Error(`no page has ${limit} policies`);
    return found.statement.execute({ owner: lower(buyer), ...after(cursor) });
  };
}
