import { z } from "@hono/zod-openapi";
import { Address, DecimalString, nullableDecimal, TxHash, UnixSeconds } from "../http/field-types.ts";
import {
  feedQuery,
  idCursor,
  limitInput,
  offsetInput,
  pageFields,
  periodInput,
  refuseFeedQuery,
} from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const listingId = decimal("Id of the listing.", "17");
const logIndex = z.int().openapi({ description: "Index of the event's log in its block.", example: 5 });

const Listing = z
  .object({
    listingId,
    sellerAddress: Address,
    bondId: decimal("Id of the bond: its epoch.", "202812"),
    epochId: decimal("The month of maturity, YYYYMM.", "202812"),
    amount: decimal("Bonds for sale, in whole dollars of face value; sold as a whole.", "800"),
    totalPriceUsdc: decimal("Price of the whole listing, USDC, 6 decimals.", "900000000"),
    pricePerUnit: decimal(
      "Price of one bond (one dollar of face value), USDC, 6 decimals, rounded down.",
      "1125000",
    ),
    maturityDate: nullableDecimal("Unix seconds; null when unknown.", "1861919999"),
    matured: z.boolean().openapi({ description: "Whether the bonds are redeemable at the block's time." }),
    status: z.literal("active"),
    createdAt: UnixSeconds.openapi({ description: "When it was listed, Unix seconds." }),
    txHash: TxHash.openapi({ description: "The listing's transaction." }),
    blockNumber: decimal("Block of that transaction.", "1234"),
    logIndex,
  })
  .openapi("Listing");

export const activeListingsRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/active-listings",
  operationId: "listActiveListings",
  tags: ["marketplace"],
  summary: "List active listings",
  request: {
    query: requestObject({
      ...periodInput,
      limit: limitInput(),
      offset: offsetInput,
      cursor: idCursor,
    }).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "One page, newest first.",
    z
      .object({
        ...pageFields,
        total: z
          .int()
          .openapi({ description: "Active listings, in the period if one is given.", example: 2 }),
        listings: z.array(Listing),
      })
      .openapi("ListingFeed"),
    "validation_error",
  ),
});

const Sale = z
  .object({
    listingId,
    buyer: Address.openapi({ example: "0x90F79bf6EB2c4f870365E785982E1f101E93b906" }),
    seller: Address,
    bondId: nullableDecimal("Id of the bond; null when the index does not know the listing.", "202812"),
    epochId: nullableDecimal("The month of maturity, YYYYMM.", "202812"),
    amount: nullableDecimal("Bonds sold, whole dollars of face value.", "800"),
    totalPriceUsdc: decimal("Price before fees, USDC, 6 decimals.", "900000000"),
    pricePerUnit: nullableDecimal("Price of one bond, USDC, 6 decimals, rounded down.", "1125000"),
    sellerFeeUsdc: decimal(
      "Fee deducted from the price, USDC, 6 decimals. The rest was credited to the seller, who withdraws it.",
      "13500000",
    ),
    buyerFeeUsdc: decimal("Fee paid by the buyer on top, USDC, 6 decimals.", "13500000"),
    listedAt: nullableDecimal("When it was listed, Unix seconds.", "1767225600"),
    soldAt: UnixSeconds.openapi({ description: "When it was sold, Unix seconds." }),
    txHash: TxHash.openapi({ description: "The sale's transaction." }),
    blockNumber: decimal("Block of that transaction.", "1234"),
    logIndex,
  })
  .openapi("Sale");

export const recentSalesRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/recent-sales",
  operationId: "listRecentSales",
  tags: ["marketplace"],
  summary: "List recent sales",
  request: { query: feedQuery({}).superRefine(refuseFeedQuery) },
  responses: indexedResponses(
    "One page, newest first.",
    z.object({ ...pageFields, sales: z.array(Sale) }).openapi("SaleFeed"),
    "validation_error",
  ),
});
