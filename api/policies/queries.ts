import { and, desc, eq, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { isDue } from "../../lib/indexed/due.ts";
import { lower } from "../../lib/lower.ts";
import { entryById } from "../../lib/products.ts";
import { account, head, oracleFeed, policy, product, replacedPolicy } from "../../ponder.schema.ts";
import type { PolicyKey } from "../chain/contracts/policy.ts";
import { assetPrice } from "../chain/contracts/prices.ts";
import type { PolicyRecord } from "../chain/policy-body.ts";
import type { FeedPage } from "../http/paging.ts";
import { asBytes } from "../indexed/json-text.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, always, firstRows, type WalkPeriod, walkBack } from "../indexed/walk.ts";
import { buyerText, isCompleteRow, policyEntry, pricesText } from "./entry-json.ts";

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
  waitingEndsAt: table.waitingEndsAt,
  expiresAt: table.expiresAt,
  triggeredAt: table.triggeredAt,
  cancelledAt: table.cancelledAt,
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
  productPaused: product.paused,
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

export type PolicyPage = FeedPage & { readonly buyer: Address };

/** A period that a statement receives later. */
const laterPeriod = { from: sql.placeholder("from"), to: sql.placeholder("to") };
/** Later than every block, Unix seconds. */
const NO_TIME = 10n ** 15n;

/** A buyer's newest policies after a position. Uses the index on buyer, block and log index. */
function walkOf(period: WalkPeriod) {
  const start = { blockNumber: sql.placeholder("blockNumber"), logIndex: sql.placeholder("logIndex") };
  return walkBack(policy, [[policy.buyer, sql.placeholder("owner")]], start, period);
}

const hasPeriod = ({ from, to }: PolicyPage) => from !== undefined || to !== undefined;

const parameters = (page: PolicyPage) => ({
  ...{ owner: lower(page.buyer), offset: page.offset },
  ...after(page.cursor),
  ...(hasPeriod(page) ? { from: String(page.from ?? 0), to: String(page.to ?? NO_TIME) } : {}),
});

/** Whether one of the buyer's policies has lost its key: almost never, and then the page is read from two tables. */
const replacedOf = (db: IndexQuery) =>
  db
    .select({ found: sql`1` })
    .from(replacedPolicy)
    .where(eq(replacedPolicy.buyer, sql.placeholder("owner")));

/** Lengths of pages for which a statement is prepared; a shorter page reads more rows than it shows. */
const PAGE_SIZES = [10, 50, 100];

/** With an offset, Postgres merges no subquery into the outer query. (drizzle leaves out `offset(0)`.) */
const unmerged = sql`1 offset 0`;

/** Without a period, a statement has nothing to search for in the index. */
function prepareEntries(
  db: IndexQuery,
  size: number,
  { skips, period }: { readonly skips: boolean; readonly period: WalkPeriod },
) {
  const { where, orderBy } = walkOf(period);
  const offset = skips ? sql.placeholder("offset") : undefined;
  const { asset, answer, updatedAt: answeredAt } = oracleFeed;
  // A subquery of its own: Postgres writes the text of prices once for each feed, and not for each policy.
  const feed = db
    .select({ asset, answer, answeredAt, prices: pricesText({ answer, answeredAt }).as("prices") })
    .from(oracleFeed)
    .orderBy(unmerged)
    .as("feed");
  const page = db
    .select({
      ...columns,
      ...{ answer: feed.answer, answeredAt: feed.answeredAt, prices: feed.prices },
      ...{ headNumber: head.number, headTime: head.timestamp },
    })
    .from(policy)
    .leftJoin(product, itsProduct)
    .leftJoin(feed, eq(feed.asset, policy.asset))
    .innerJoin(head, always)
    .where(where)
    .orderBy(firstRows(orderBy, size + 1, offset))
    .as("page");
  const { buyer, blockNumber, logIndex } = page;
  // The limit keeps Postgres from merging this subquery too: it would write each entry twice, for its text and for its length.
  const written = db
    .select({
      ...{ buyer, blockNumber, logIndex },
      entry: policyEntry(page, sql`${sql.placeholder("buyer")}::text`).as("entry"),
      complete: isCompleteRow(page).as("is_complete"),
    })
    .from(page)
    .orderBy(firstRows([desc(buyer), desc(blockNumber), desc(logIndex)], size + 1))
    .as("written");
  // The order that the rows have, so that Postgres does not sort them again.
  const newestFirst = sql`order by ${written.buyer} desc, ${written.blockNumber} desc, ${written.logIndex} desc`;
  // The database is in UTF-8, so that these are the bytes that arrive.
  const end = sql`octet_length(${written.entry}) || ' ' || ${written.blockNumber} || '-' || ${written.logIndex}`;
  const entries = db
    .select({
      list: asBytes(sql`string_agg(${written.entry}, ',' ${newestFirst})`).as("list"),
      ends: sql<string | null>`string_agg(${end}, ',' ${newestFirst})`.as("ends"),
      count: sql<number>`count(*)::int`.as("count"),
      complete: sql<boolean | null>`bool_and(${written.complete})`.as("complete"),
      hasReplaced: sql<boolean>`exists (${replacedOf(db)})`.as("has_replaced"),
    })
    .from(written)
    .as("entries");
  return db
    .select()
    .from(head)
    .leftJoin(account, eq(account.address, sql.placeholder("owner")))
    .innerJoin(entries, always)
    .prepare(`policies_${size}`);
}

/**
 * Prepares the read of a page of a buyer's policies as JSON, and of the buyer's account, which holds their total. `list` has at
 * least the page's entries, null without any; `count` is above `limit` if there is a further page. `ends` has the length of each
 * entry in bytes, and its position: `952 436-12,…`. `complete` is false if a row lacks what its entry shows, `hasReplaced` true if the
 * buyer has policies of `replaced_policy`, which are in no list. Prepared because building the statement takes longer than running it.
 */
export function preparePolicyEntries(db: IndexQuery) {
  const statements = PAGE_SIZES.map((size) => ({
    size,
    first: prepareEntries(db, size, { skips: false, period: {} }),
    later: prepareEntries(db, size, { skips: true, period: {} }),
    within: prepareEntries(db, size, { skips: true, period: laterPeriod }),
  }));
  return (page: PolicyPage) => {
    const found = statements.find(({ size }) => size >= page.limit);
    if (!found) throw new Error(`no page has ${page.limit} policies`);
    const ofAll = page.offset === 0 ? found.first : found.later;
    const statement = hasPeriod(page) ? found.within : ofAll;
    return statement.execute({ ...parameters(page), buyer: buyerText(page.buyer) });
  };
}
