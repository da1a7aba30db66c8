import { desc, eq } from "drizzle-orm";
import { isWhole } from "../../lib/indexed/head.ts";
import { bondEpoch, head, listing, protocolStats, sale } from "../../ponder.schema.ts";
import type { FeedPage } from "../http/paging.ts";
import type { IndexQuery } from "../index/reader.ts";
import { always, behind, walkBack, walkIdsBack } from "../index/walk.ts";

export type ListingPage = {
  readonly limit: number;
  readonly offset: number;
  /** The id behind which the page begins. */
  readonly cursor?: bigint | undefined;
};

/**
 * Listings that can be bought, newest first, one further than `limit`, and the protocol's sums, which tell how many there
 * are. Served by the index on status and id.
 */
export function readActiveListings(db: IndexQuery, { limit, offset, cursor }: ListingPage) {
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
    .where(where)
    .orderBy(...orderBy)
    .limit(limit + 1)
    .offset(offset)
    .as("page");
  return db
    .select()
    .from(head)
    .leftJoin(protocolStats, always)
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.listingId));
}

/** Filled listings by the time of their sale, newest first, one further than `limit`. Served by the primary key. */
export function readSales(db: IndexQuery, { limit, offset, cursor }: FeedPage) {
  const { where, orderBy } = walkBack(sale, [], behind(cursor));
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
  return db
    .select()
    .from(head)
    .leftJoin(page, always)
    .where(isWhole())
    .orderBy(desc(page.blockNumber), desc(page.logIndex));
}
