import { and, desc, eq } from "drizzle-orm";
import { bondEpoch, head, listing, sale } from "../../ponder.schema.ts";
import type { FeedPage, Period } from "../http/paging.ts";
import { readFeed } from "../indexed/feed.ts";
import type { IndexQuery } from "../indexed/reader.ts";
import { after, always, walkBack, walkIdsBack } from "../indexed/walk.ts";
import { listedWithin, totalOf } from "./listing-queries.ts";

/** The period is that of the listing. */
export type ListingPage = Period & {
  readonly limit: number;
  readonly offset: number;
  /** The id after which the page begins. */
  readonly cursor?: bigint | undefined;
};

/**
 * Reads active listings, newest first, one row more than `limit`, and their total. Uses the index on status and id.
 */
export function readActiveListings(db: IndexQuery, { limit, offset, cursor, from, to }: ListingPage) {
  const { where, orderBy } = walkIdsBack([listing.status, "active"], listing.listingId, cursor);
  const page = db
    .select({
      listingId: listing.listingId,
      seller: listing.seller,
      epochId: listing.epochId,
      amount: listing.amount,
      price: listing.price,
      unitPrice: listing.unitPrice,
      maturityDate: bondEpoch.maturityDate,
      txHash: listing.txHash,
      blockNumber: listing.blockNumber,
      blockTimestamp: listing.blockTimestamp,
      logIndex: listing.logIndex,
    })
    .from(listing)
    .leftJoin(bondEpoch, eq(bondEpoch.epochId, listing.epochId))
    .where(and(where, listedWithin({ from, to })))
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return db
    .select()
    .from(head)
    .leftJoin(totalOf(db, { from, to }), always)
    .leftJoin(page, always)
    .orderBy(desc(page.listingId));
}

/** Reads sales, newest first, one row more than `limit`. Uses the primary key. */
export function readSales(db: IndexQuery, { limit, offset, cursor, ...period }: FeedPage) {
  const { where, orderBy } = walkBack(sale, [], after(cursor), period);
  const page = db
    .select({
      listingId: sale.listingId,
      buyer: sale.buyer,
      seller: sale.seller,
      epochId: sale.epochId,
      amount: sale.amount,
      price: sale.price,
      unitPrice: sale.unitPrice,
      sellerFee: sale.sellerFee,
      buyerFee: sale.buyerFee,
      listedAt: sale.listedAt,
      txHash: sale.txHash,
      blockNumber: sale.blockNumber,
      blockTimestamp: sale.blockTimestamp,
      logIndex: sale.logIndex,
    })
    .from(sale)
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return readFeed(db, page);
}
