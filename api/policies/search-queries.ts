/** Searches all policies. */
import { and, eq, gte, inArray, lt, type SQL, sql } from "drizzle-orm";
import type { Address, Hex } from "viem";
import { z } from "zod";
import { lower } from "../../lib/lower.ts";
import { policy, product, productEvent, productStats } from "../../ponder.schema.ts";
import type { PolicyStatus } from "../chain/policy-status.ts";
import type { FeedPage, Period } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, walkBack } from "../indexed/walk.ts";
import { selectPolicies } from "./queries.ts";

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

/** The longest cover of the catalogue, in seconds: of products without an event of their terms. */
const LONGEST_OF_CATALOGUE = 172_800n;

/** The longest duration, in seconds, with which the index has seen any product sold. */
async function longestCover(db: IndexQuery): Promise<bigint> {
  const [row] = await db
    .select({ longest: sql<string | null>`max((${productEvent.args} ->> 'durationSeconds')::numeric)::text` })
    .from(productEvent)
    .where(eq(productEvent.kind, "terms_set"));
  const longest = z.string().transform(BigInt).nullish().parse(row?.longest) ?? 0n;
  return longest > LONGEST_OF_CATALOGUE ? longest : LONGEST_OF_CATALOGUE;
}

/** The condition of a status at `now`, as `policyStatus` has it. Without a known expiry a policy is neither active nor expired. */
function isStatus(status: PolicyStatus, now: bigint): SQL {
  const time = sql`${String(now)}::numeric`;
  const untouched = sql`${policy.triggeredAt} is null and ${policy.cancelledAt} is null`;
  const waiting = sql`coalesce(${policy.waitingEndsAt} > ${time}, false)`;
  return {
    Triggered: sql`${policy.triggeredAt} is not null`,
    Cancelled: sql`${policy.cancelledAt} is not null and ${policy.triggeredAt} is null`,
    Waiting: sql`${untouched} and ${waiting}`,
    Active: sql`${untouched} and not ${waiting} and ${policy.expiresAt} >= ${time}`,
    Expired: sql`${untouched} and not ${waiting} and ${policy.expiresAt} < ${time}`,
  }[status];
}

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
  const open = status === "Active" || status === "Waiting" ? now : undefined;
  const ends = latest(open, expiresFrom);
  return { from: latest(from, ends === undefined ? undefined : ends - longest), to: earliest(to, expiresTo) };
}

/** The ids of the products of a search. */
function productsOf({ product: productId, asset }: PolicySearch): SQL {
  if (asset === undefined && productId === undefined) return sql`select product_id from ${productStats}`;
  if (asset === undefined) return sql`select ${productId}::text as product_id`;
  const ofAsset = sql`select product_id from ${product} where asset = ${asset}`;
  return productId === undefined ? ofAsset : sql`${ofAsset} and product_id = ${productId}`;
}

/**
 * Reads a page of the policies that a search finds at `now`, the newest purchase first, one row more than `limit`. Of a
 * buyer it walks the index on the buyer. Otherwise it merges one walk for each product: along the product's policies, or
 * only its triggered or cancelled ones.
 */
export async function searchPolicies(db: IndexQuery, search: PolicySearch, now: bigint) {
  const { limit, offset, cursor, buyer, status, expiresFrom, expiresTo } = search;
  const period = purchasePeriod(search, now, await longestCover(db));
  const matching = and(
    status && isStatus(status, now),
    expiresFrom === undefined ? undefined : gte(policy.expiresAt, sql`${String(expiresFrom)}`),
    expiresTo === undefined ? undefined : lt(policy.expiresAt, sql`${String(expiresTo)}`),
  );
  const rows = limit + 1;
  const walk = (key: Parameters<typeof walkBack>[1][number], more: SQL | undefined, most: number) => {
    const { where, orderBy } = walkBack(policy, [key], after(cursor), period);
    return sql`select product_id, policy_id, block_number, log_index from ${policy}
      where ${and(where, matching, more)} order by ${sql.join([...orderBy], sql`, `)} limit ${most}`;
  };
  const isRestricted = search.product !== undefined || search.asset !== undefined;
  const ofProducts = isRestricted ? inArray(policy.productId, sql`(${productsOf(search)})`) : undefined;
  const keys =
    buyer === undefined
      ? sql`select found.* from (${productsOf(search)}) wanted, lateral (
          ${walk([policy.productId, sql`wanted.product_id`], undefined, rows + offset)}) found
          order by block_number desc, log_index desc limit ${rows} offset ${offset}`
      : sql`${walk([policy.buyer, lower(buyer)], ofProducts, rows)} offset ${offset}`;
  const page = selectPolicies(db)
    .where(
      sql`(${policy.productId}, ${policy.policyId}) in (select product_id, policy_id from (${keys}) keys)`,
    )
    .as("page");
  return readFeed(db, page);
}
