import { getAddress } from "viem";
import type { Api } from "../http/env.ts";
import { cursorOf, cutPage, type FeedPage, pagesOf } from "../http/paging.ts";
import type { Readers } from "../readers.ts";
import { type ListingPage, readActiveListings, readSales } from "./queries.ts";
import { activeListingsRoute, recentSalesRoute } from "./routes.ts";

const text = (value: bigint | null) => (value === null ? null : String(value));

/** Indexed reads of the marketplace. */
export function addMarketplaceRoutes(app: Api, { answers, index }: Readers): void {
  const activeListings = answers.of(
    (page: ListingPage) => index.rows((db) => readActiveListings(db, page)),
    (found, { limit, offset }, asOf) => {
      const total = found[0]?.protocol_stats?.activeListings ?? 0;
      const { rows, next } = cutPage(pagesOf(found), limit, (row) => String(row.listingId));
      const listings = rows.map((row) => ({
        listingId: String(row.listingId),
        sellerAddress: getAddress(row.seller),
        bondId: String(row.epochId),
        epochId: String(row.epochId),
        amount: String(row.amount),
        totalPriceUsdc: String(row.price),
        pricePerUnit: String(row.unitPrice),
        maturityDate: text(row.maturityDate),
        matured: row.maturityDate !== null && asOf.timestamp >= row.maturityDate,
        status: "active" as const,
        createdAt: String(row.blockTimestamp),
        txHash: row.txHash,
        blockNumber: String(row.blockNumber),
        logIndex: row.logIndex,
      }));
      return { count: listings.length, total, limit, offset, nextCursor: next, listings };
    },
  );
  app.openapi(activeListingsRoute, async (c) => answers.send(c, await activeListings(c.req.valid("query"))));

  const recentSales = answers.of(
    (page: FeedPage) => index.rows((db) => readSales(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pagesOf(found), limit, cursorOf);
      const sales = rows.map((row) => ({
        listingId: String(row.listingId),
        buyer: getAddress(row.buyer),
        seller: getAddress(row.seller),
        bondId: text(row.epochId),
        epochId: text(row.epochId),
        amount: text(row.amount),
        totalPriceUsdc: String(row.price),
        pricePerUnit: text(row.unitPrice),
        sellerFeeUsdc: String(row.sellerFee),
        buyerFeeUsdc: String(row.buyerFee),
        listedAt: text(row.listedAt),
        soldAt: String(row.blockTimestamp),
        txHash: row.txHash,
        blockNumber: String(row.blockNumber),
        logIndex: row.logIndex,
      }));
      return { count: sales.length, limit, offset, nextCursor: next, sales };
    },
  );
  app.openapi(recentSalesRoute, async (c) => answers.send(c, await recentSales(c.req.valid("query"))));
}
