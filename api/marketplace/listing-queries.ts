/** Reads listings as a resource: a search among the active ones, and one by its id. */
import { and, asc, type Column, desc, eq, gte, lt, lte, type SQL, type SQLWrapper, sql } from "drizzle-orm";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { bondEpoch, head, listing, protocolStats } from "../../ponder.schema.ts";
import type { Period } from "../http/paging.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { always, between } from "../indexed/walk.ts";

export const listingOrders = ["price-asc", "price-desc", "createdAt-desc", "listedAt-desc"] as const;

/** What a listing must be like. Prices are totals, USDC with 6 decimals; the period is that of the listing. */
type Filter = Period & {
  readonly seller?: Address | undefined;
  readonly maxPriceUsdc?: bigint | undefined;
  /** Basis points below the face value, at least. */
  readonly minDiscountBps?: number | undefined;
};

export type ListingSearch = Filter & {
  readonly sortBy: (typeof listingOrders)[number];
  readonly limit: number;
  readonly offset: number;
};

const columns = {
  listingId: listing.listingId,
  seller: listing.seller,
  epochId: listing.epochId,
  amount: listing.amount,
  price: listing.price,
  unitPrice: listing.unitPrice,
  status: listing.status,
  buyer: listing.buyer,
  closedAt: listing.closedAt,
  closedTxHash: listing.closedTxHash,
  maturityDate: bondEpoch.maturityDate,
  txHash: listing.txHash,
  blockNumber: listing.blockNumber,
  blockTimestamp: listing.blockTimestamp,
  logIndex: listing.logIndex,
};

const selectListings = (db: IndexQuery) =>
  db.select(columns).from(listing).leftJoin(bondEpoch, eq(bondEpoch.epochId, listing.epochId));

export type ListingRow = Awaited<ReturnType<typeof selectListings>>[number];

const NO_LIMIT = sql`'Infinity'::numeric`;
/** postgres.js sends a bigint as an int8, which is too small. */
const numeric = (value: bigint | number) => sql`${String(value)}`;
/** Basis points of a whole; 100 of a price with 6 decimals per dollar are one. */
const WHOLE_BPS = 10_000;
const BPS_OF_A_DOLLAR = 100;

/** The part of an index that holds the active listings of everybody or of one seller, and its leading columns. */
function activeListings({ seller, maxPriceUsdc }: Filter, byPrice: boolean) {
  const keys: (readonly [Column, SQL])[] = [[listing.status, sql`${"active"}`]];
  if (seller !== undefined) keys.unshift([listing.seller, sql`${lower(seller)}`]);
  const leading = keys.map(([column]) => column);
  const values = keys.map(([, value]) => value);
  const highest = maxPriceUsdc === undefined ? NO_LIMIT : numeric(maxPriceUsdc);
  const rest = byPrice ? [listing.price, listing.listingId] : [listing.listingId];
  const low = rest.map(() => sql`0`);
  const high = byPrice ? [highest, NO_LIMIT] : [NO_LIMIT];
  return { leading, where: between([...leading, ...rest], [...values, ...low], [...values, ...high]) };
}

/** Whether a listing is of the period. A filter: there are far fewer active listings than there have been listings. */
export const listedWithin = ({ from, to }: Period): SQL | undefined =>
  and(
    from === undefined ? undefined : gte(listing.blockTimestamp, numeric(from)),
    to === undefined ? undefined : lt(listing.blockTimestamp, numeric(to)),
  );

/** The other conditions, which an index in the order of the listing time cannot serve. */
function conditions({ maxPriceUsdc, minDiscountBps, ...period }: Filter): SQL | undefined {
  // A listing above its face value shows a discount of 0 too.
  const unitPrice = minDiscountBps ? numeric((WHOLE_BPS - minDiscountBps) * BPS_OF_A_DOLLAR) : undefined;
  return and(
    maxPriceUsdc === undefined ? undefined : lte(listing.price, numeric(maxPriceUsdc)),
    unitPrice && lte(listing.price, sql`${listing.amount} * ${unitPrice}`),
    listedWithin(period),
  );
}

/** How many active listings match: counted along the index on price, or for all of them the projections' sum. */
export function totalOf(db: IndexQuery, filter: Filter) {
  const total = sql<number>`count(*)::int`.as("total");
  if (Object.values(filter).every((value) => value === undefined)) {
    const stored = sql<number>`coalesce(max(${protocolStats.activeListings}), 0)`.as("total");
    return db.select({ total: stored }).from(protocolStats).as("matching");
  }
  const where = and(activeListings(filter, true).where, conditions(filter));
  return db.select({ total }).from(listing).where(where).as("matching");
}

/**
 * Reads a page of the active listings that match, and their total. Without `seller` uses the index on status and price, or
 * that on status and id; with it the index on the seller's listings, which are sorted where the order is by time.
 */
export function searchListings(db: IndexQuery, { sortBy, limit, offset, ...filter }: ListingSearch) {
  const byPrice = sortBy === "price-asc" || sortBy === "price-desc";
  const direction = sortBy === "price-asc" ? asc : desc;
  const { leading, where } = activeListings(filter, byPrice || filter.seller !== undefined);
  const order: SQLWrapper[] = byPrice ? [listing.price, listing.listingId] : [listing.listingId];
  const page = selectListings(db)
    .where(and(where, conditions(filter)))
    .orderBy(...[...leading, ...order].map((column) => direction(column)))
    .limit(limit)
    .offset(offset)
    .as("page");
  return db
    .select()
    .from(head)
    .leftJoin(totalOf(db, filter), always)
    .leftJoin(page, always)
    .orderBy(...(byPrice ? [direction(page.price)] : []), direction(page.listingId));
}

/** Reads one listing in any status by its id. Uses the primary key. */
export function findListing(db: IndexQuery, listingId: bigint) {
  const page = selectListings(db)
    .where(eq(listing.listingId, numeric(listingId)))
    .as("page");
  return db.select().from(head).leftJoin(page, always);
}
