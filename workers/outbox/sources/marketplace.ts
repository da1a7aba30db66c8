/** Events of the marketplace. */
import { eq, getTableColumns } from "drizzle-orm";
import { getAddress } from "viem";
import { listing, listingCancellation, sale } from "../../../ponder.schema.ts";
import { decimalOrNull, type Source, source } from "./source.ts";

export const marketplaceSources: readonly Source[] = [
  source({
    type: "listing_created",
    table: listing,
    rows: (db, where) => db.select().from(listing).where(where),
    parties: ({ seller }) => [seller],
    data: (row) => ({
      listingId: String(row.listingId),
      seller: getAddress(row.seller),
      bondId: String(row.epochId),
      amount: String(row.amount),
      price: String(row.price),
    }),
  }),
  source({
    type: "listing_purchased",
    table: sale,
    rows: (db, where) => db.select().from(sale).where(where),
    parties: ({ buyer, seller }) => [buyer, seller],
    data: (row) => ({
      listingId: String(row.listingId),
      seller: getAddress(row.seller),
      buyer: getAddress(row.buyer),
      bondId: decimalOrNull(row.epochId),
      amount: decimalOrNull(row.amount),
      price: String(row.price),
      sellerFee: String(row.sellerFee),
      buyerFee: String(row.buyerFee),
    }),
  }),
  source({
    type: "listing_cancelled",
    table: listingCancellation,
    rows: (db, where) =>
      db
        .select({
          ...getTableColumns(listingCancellation),
          epochId: listing.epochId,
          amount: listing.amount,
        })
        .from(listingCancellation)
        .leftJoin(listing, eq(listing.listingId, listingCancellation.listingId))
        .where(where),
    parties: ({ seller }) => [seller],
    data: (row) => ({
      listingId: String(row.listingId),
      seller: getAddress(row.seller),
      bondId: decimalOrNull(row.epochId),
      amount: decimalOrNull(row.amount),
      emergency: false,
    }),
  }),
];
