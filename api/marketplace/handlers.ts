import { getAddress } from "viem";
import type { Api } from "../http/env.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import type { IndexReader } from "../indexed/reader.ts";
import type { IndexedResponses } from "../indexed/responses.ts";
import { addListingRoutes } from "./listing-handlers.ts";
import { type ListingPage, readActiveListings, readSales } from "./queries.ts";
import { activeListingsRoute, recentSalesRoute } from "./routes.ts";

export type MarketplaceParts = { readonly index: IndexReader; readonly responses: IndexedResponses };

export function addMarketplaceRoutes(app: Api, parts: MarketplaceParts): void {
  const { index, responses } = parts;
  const activeListings = responses.define(
    (page: ListingPage) => index.rows((db) => readActiveListings(db, page)),
    (found, { limit, offset }, asOf) => {
      const total = Number(found[0]?.matching?.total ?? 0);
      const { rows, next } = cutPage(pageRows(found), limit, (row) => String(row.listingId));
      const listings = rows.map((row) => ({
        listingId: String(row.listingId),
        sellerAddress: getAddress(row.seller),
        bondId: String(row.epochId),
        epochId: String(row.epochId),
        amount: String(row.amount),
        totalPriceUsdc: String(row.price),
        pricePerUnit: String(row.unitPrice),
        maturityDate: decimalOrNull(row.maturityDate),
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
  app.openapi(activeListingsRoute, async (c) =>
    responses.send(c, await activeListings(c.req.valid("query")), activeListingsRoute),
  );

  const recentSales = responses.define(
    (page: FeedPage) => index.rows((db) => readSales(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const sales = rows.map((row) => ({
        listingId: String(row.listingId),
        buyer: getAddress(row.buyer),
        seller: getAddress(row.seller),
        bondId: decimalOrNull(row.epochId),
        epochId: decimalOrNull(row.epochId),
        amount: decimalOrNull(row.amount),
        totalPriceUsdc: String(row.price),
        pricePerUnit: decimalOrNull(row.unitPrice),
        sellerFeeUsdc: String(row.sellerFee),
        buyerFeeUsdc: String(row.buyerFee),
        listedAt: decimalOrNull(row.listedAt),
        soldAt: String(row.blockTimestamp),
        txHash: row.txHash,
        blockNumber: String(row.blockNumber),
        logIndex: row.logIndex,
      }));
      return { count: sales.length, limit, offset, nextCursor: next, sales };
    },
  );
  app.openapi(recentSalesRoute, async (c) =>
    responses.send(c, await recentSales(c.req.valid("query")), recentSalesRoute),
  );

  addListingRoutes(app, parts);
}
