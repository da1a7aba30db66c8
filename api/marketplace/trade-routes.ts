import { z } from "@hono/zod-openapi";
import {
  Address,
  DecimalString,
  nullableDecimal,
  Timestamp,
  TxHash,
  UnixSeconds,
} from "../http/field-types.ts";
import { feedQuery, pageFields, refuseFeedQuery } from "../http/paging.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const count = (description: string, example: number) => z.int().openapi({ description, example });

export const marketStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/stats",
  operationId: "getMarketStats",
  tags: ["marketplace", "stats"],
  summary: "Get the marketplace's figures",
  description: "Prices and volumes are those of whole listings without fees, USDC with 6 decimals.",
  responses: indexedResponses(
    "Floor, volume and listings at the block.",
    z
      .object({
        floor: nullableDecimal("Lowest price of an active listing; null without one.", "600000000"),
        floorPerUnit: nullableDecimal(
          "Lowest price of one bond (one dollar of face value) among active listings, rounded down; null without one.",
          "750000",
        ),
        volume24h: decimal("Sales in the 24 hours before the block.", "900000000"),
        sales24h: count("Number of these sales.", 1),
        totalListings: count("Active listings.", 2),
        totalVolume: decimal("All sales.", "11000000000"),
        totalSales: count("Number of all sales.", 3),
        totalFees: decimal("Fees of sellers and buyers on all sales.", "330000000"),
      })
      .openapi("MarketStats"),
  ),
});

const Trade = z
  .object({
    listingId: decimal("Id of the listing.", "17"),
    buyer: Address.openapi({ example: "0x90F79bf6EB2c4f870365E785982E1f101E93b906" }),
    buyerAddress: Address.openapi({ description: "The same as `buyer`." }),
    seller: Address,
    sellerAddress: Address.openapi({ description: "The same as `seller`." }),
    bondId: nullableDecimal("Id of the bond; null when the index does not know the listing.", "202812"),
    epochId: nullableDecimal("The month of maturity, YYYYMM.", "202812"),
    amount: nullableDecimal("Bonds sold, whole dollars of face value.", "800"),
    priceUsdc: decimal("Price without fees, USDC, 6 decimals.", "900000000"),
    totalPaidUsdc: decimal("What the buyer paid: the price and the buyer's fee.", "913500000"),
    pricePerUnit: nullableDecimal("Price of one bond, USDC, 6 decimals, rounded down.", "1125000"),
    timestamp: UnixSeconds.openapi({ description: "When it was sold, Unix seconds." }),
    executedAt: Timestamp.openapi({ description: "The same time." }),
    txHash: TxHash.openapi({ description: "The sale's transaction." }),
    blockNumber: decimal("Block of that transaction.", "1234"),
    logIndex: count("Index of the event's log in its block.", 5),
  })
  .openapi("Trade");

export const marketHistoryRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/history",
  operationId: "listTrades",
  tags: ["marketplace"],
  summary: "List trades",
  description: "The sales of `/api/v1/marketplace/recent-sales`, with what the buyer paid.",
  request: { query: feedQuery({}).superRefine(refuseFeedQuery) },
  responses: indexedResponses(
    "One page, newest first.",
    z.object({ ...pageFields, trades: z.array(Trade) }).openapi("TradeFeed"),
    "validation_error",
  ),
});
