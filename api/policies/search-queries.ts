/** Searches all policies. */
import { and, eq, inArray, max, or, type SQL, sql } from "drizzle-orm";
import { unionAll } from "drizzle-orm/pg-core";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { hasStatus, type PolicyStatus } from "../../lib/indexed/policy-status.ts";
import { lower } from "../../lib/lower.ts";
import { catalogue } from "../../lib/products.ts";
import { policy, product, productStats, replacedPolicy } from "../../ponder.schema.ts";
import type { FeedPage, Period } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";
import { selectPolicies, selectReplaced } from "./queries.ts";

/** Times are Unix seconds. The page's period is that of the purchase. */
export type PolicySearch = FeedPage & {
  readonly product?: Hex | undefined;
  readonly asset?: Hex | undefined;
  readonly buyer?: Address | undefined;
  readonly status?: PolicyStatus | undefined;
  readonly expiresFrom?: bigint | undefined;
  /** Exclusive. */
  readonly expiresTo?: bigint | undefined;
};

/** The longest cover of the six products, in seconds: the index knows no duration of a retired one. */
const LONGEST_OF_CATALOGUE = 172_800n;

/** The longest duration of any product, in seconds. */
async function longestCover(db: IndexQuery): Promise<bigint> {
  const [row] = await db.select({ longest: max(product.durationSeconds) }).from(product);
  const longest = BigInt(row?.longest ?? 0);
  return longest > LONGEST_OF_CATALOGUE ? longest : LONGEST_OF_CATALOGUE;
}

/** Both tables of policies: those that have their key, and those whose key has come again. */
type PolicyTable = typeof policy | typeof replacedPolicy;

const latest = (...times: readonly (bigint | undefined)[]) =>
  times.reduce((a, b) => (a === undefined || (b !== undefined && b > a) ? b : a));
const earliest = (...times: readonly (bigint | undefined)[]) =>
  times.reduce((a, b) => (a === undefined || (b !== undefined && b < a) ? b : a));

/**
 * When the policies of a search can have been bought: a policy that ends after a time was bought at most the longest cover
 * before it. So a search by expiry reads the policies of that time, and not all that were ever sold.
 */
function purchasePeriod(
  { from, to, status, expiresFrom, expiresTo }: PolicySearch,
  now: bigint,
  longest: bigint,
): Period {
  const open = status === "Active" ? now : undefined;
  const ends = latest(open, expiresFrom);
  return { from: latest(from, ends === undefined ? undefined : ends - longest), to: earliest(to, expiresTo) };
}

/** Of a row of `product_stats`: whether the product may have policies of the asset, by its own row or the catalogue. */
function mayCover(db: IndexQuery, asset: Hex): SQL | undefined {
  const known = catalogue.filter((entry) => entry.asset === asset).map(({ productId }) => productId);
  return or(
    inArray(productStats.productId, known),
    inArray(
      productStats.productId,
      db.select({ productId: product.productId }).from(product).where(eq(product.asset, asset)),
    ),
  );
}

/** The ids of the products that may have matching policies. */
async function productsOf(db: IndexQuery, { product: productId, asset }: PolicySearch): Promise<Hex[]> {
  if (asset === undefined && productId !== undefined) return [productId];
  const rows = await db
    .select({ productId: productStats.productId })
    .from(productStats)
    .where(asset === undefined ? undefined : mayCover(db, asset));
  const ids = rows.map((row) => row.productId);
  return productId === undefined ? ids : ids.filter((id) => id === productId);
}

const position = z.object({ block_number: z.string(), log_index: z.int(), replaced: z.boolean() });

/** The conditions of a search that are of a policy alone. */
function matchesOf(table: PolicyTable, { asset, status, expiresFrom, expiresTo }: PolicySearch, now: bigint) {
  return and(
    asset && eq(table.asset, asset),
    status && hasStatus(table, status, now, { replaced: table === replacedPolicy }),
    expiresFrom === undefined ? undefined : sql`${table.expiresAt} >= ${String(expiresFrom)}`,
    expiresTo === undefined ? undefined : sql`${table.expiresAt} < ${String(expiresTo)}`,
  );
}

/**
 * Finds the positions of a page's policies, one more than `limit`. Of a buyer it walks the index on the buyer. Otherwise it
 * merges one walk for each product: along the product's policies, or only its triggered ones. Those whose key
 * has come again are so few that one more walk reads them.
 */
async function findPositions(db: IndexQuery, search: PolicySearch, now: bigint) {
  const { limit, offset, cursor, buyer } = search;
  const isOfProducts = search.product !== undefined || search.asset !== undefined;
  const [longest, products] = await Promise.all([
    longestCover(db),
    buyer && !isOfProducts ? [] : productsOf(db, search),
  ]);
  const period = purchasePeriod(search, now, longest);
  const owner = buyer && lower(buyer);
  const walk = (table: PolicyTable, key: Parameters<typeof walkBack>[1][number], more?: SQL) => {
    const { where, orderBy } = walkBack(table, [key], after(cursor), period);
    return sql`(select block_number, log_index, ${sql.raw(String(table === replacedPolicy))} as replaced from ${table}
      where ${and(where, matchesOf(table, search, now), more)}
      order by ${sql.join([...orderBy], sql`, `)} limit ${limit + 1 + offset})`;
  };
  const ofProducts = (table: PolicyTable) =>
    isOfProducts ? (products.length === 0 ? sql`false` : inArray(table.productId, products)) : undefined;
  const walks = [
    ...(owner
      ? [walk(policy, [policy.buyer, owner], ofProducts(policy))]
      : products.map((id) => walk(policy, [policy.productId, id]))),
    walk(replacedPolicy, [replacedPolicy.buyer, owner], ofProducts(replacedPolicy)),
  ];
  const found = await db.execute(sql`
    select block_number::text, log_index, replaced from (${sql.join(walks, sql` union all `)}) found
    order by found.block_number desc, log_index desc limit ${limit + 1} offset ${offset}`);
  return z.array(position).parse([...found]);
}

/** The rows of a table at these positions. */
function isAt(table: PolicyTable, positions: readonly z.output<typeof position>[]): SQL {
  if (positions.length === 0) return sql`false`;
  const list = positions.map((at) => sql`(${at.block_number}::numeric, ${at.log_index}::integer)`);
  return sql`(${table.blockNumber}, ${table.logIndex}) in (${sql.join(list, sql`, `)})`;
}

/**
 * Reads a page of the policies that a search finds at `now`, the newest purchase first, one row more than `limit`.
 * @param db in a transaction of one snapshot
 */
export async function searchPolicies(db: IndexQuery, search: PolicySearch, now: bigint) {
  const positions = await findPositions(db, search, now);
  const kept = positions.filter(({ replaced }) => !replaced);
  const older = positions.filter(({ replaced }) => replaced);
  const policies = selectPolicies(db).where(isAt(policy, kept));
  // Almost always there is none.
  const page =
    older.length === 0 ? policies : unionAll(policies, selectReplaced(db).where(isAt(replacedPolicy, older)));
  return readFeed(db, page.as("page"));
}
