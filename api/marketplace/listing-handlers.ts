import { getAddress } from "viem";
import { ApiError } from "../../lib/errors.ts";
import type { Api } from "../http/env.ts";
import { decimalOrNull, isoTime } from "../http/field-types.ts";
import { cursorOf, cutPage, type FeedPage } from "../http/paging.ts";
import { pageRows } from "../indexed/feed.ts";
import { readMarketStats } from "../indexed/market-stats.ts";
import type { MarketplaceParts } from "./handlers.ts";
import { listingBody } from "./listing-body.ts";
import { findListing, type ListingSearch, searchListings } from "./listing-queries.ts";
import { listingRoute, listingsRoute } from "./listing-routes.ts";
import { readSales } from "./queries.ts";
import { marketHistoryRoute, marketStatsRoute } from "./trade-routes.ts";

/** Listings as a resource, the marketplace's figures, and its trades. */
export function addListingRoutes(app: Api, { index, responses }: MarketplaceParts): void {
  const search = responses.define(
    (query: ListingSearch) => index.rows((db) => searchListings(db, query)),
    (found, { limit, offset }, { timestamp }) => {
      const listings = pageRows(found).map((row) => listingBody(row, timestamp));
      const total = Number(found[0]?.matching?.total ?? 0);
      return { count: listings.length, total, limit, offset, listings };
    },
  );
  app.openapi(listingsRoute, async (c) =>
    responses.send(c, await search(c.req.valid("query")), listingsRoute),
  );

  const one = responses.define(
    (listingId: bigint) => index.rows((db) => findListing(db, listingId)),
    (found, listingId, { timestamp }) => {
      const [row] = pageRows(found);
      if (!row) throw new ApiError("listing_not_found", `There is no listing ${listingId}.`);
      return listingBody(row, timestamp);
    },
  );
  app.openapi(listingRoute, async (c) =>
    responses.send(c, await one(c.req.valid("param").listingId), listingRoute),
  );

  const stats = responses.define(
    (_: null) =>
      index.read((db, asOf) =>
        readMarketStats(
          db,
          asOf.then(({ timestamp }) => timestamp),
        ),
      ),
    ({ floor, floorPerUnit, day, sums }) => ({
      floor: decimalOrNull(floor),
      floorPerUnit: decimalOrNull(floorPerUnit),
      volume24h: String(day.volume),
      sales24h: day.sales,
      totalListings: sums?.activeListings ?? 0,
      totalVolume: String(sums?.volume ?? 0),
      totalSales: sums?.sales ?? 0,
      totalFees: String(sums?.fees ?? 0),
    }),
  );
  app.openapi(marketStatsRoute, async (c) => responses.send(c, await stats(null), marketStatsRoute));

  const history = responses.define(
    (page: FeedPage) => index.rows((db) => readSales(db, page)),
    (found, { limit, offset }) => {
      const { rows, next } = cutPage(pageRows(found), limit, cursorOf);
      const trades = rows.map((row) => {
        const buyer = getAddress(row.buyer);
        const seller = getAddress(row.seller);
        return {
          listingId: String(row.listingId),
          buyer,
          buyerAddress: buyer,
          seller,
          sellerAddress: seller,
          bondId: decimalOrNull(row.epochId),
          epochId: decimalOrNull(row.epochId),
          amount: decimalOrNull(row.amount),
          priceUsdc: String(row.price),
          totalPaidUsdc: String(row.price + row.buyerFee),
          pricePerUnit: decimalOrNull(row.unitPrice),
          timestamp: String(row.blockTimestamp),
          executedAt: isoTime(row.blockTimestamp),
          txHash: row.txHash,
          blockNumber: String(row.blockNumber),
          logIndex: row.logIndex,
        };
      });
      return { count: trades.length, limit, offset, nextCursor: next, trades };
    },
  );
  app.openapi(marketHistoryRoute, async (c) =>
    responses.send(c, await history(c.req.valid("query")), marketHistoryRoute),
  );
}
