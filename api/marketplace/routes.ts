import { createRoute, z } from "@hono/zod-openapi";
import { Address, Bytes32, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import {
  feedQuery,
  idCursor,
  limitInput,
  offsetInput,
  pageFields,
  refuseOffsetWithCursor,
} from "../http/paging.ts";
import { indexedResponses } from "../index/documented-responses.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const listingId = decimal("The listing's id.", "17");
const logIndex = z.int().openapi({ description: "Place of the event's log in its block.", example: 5 });

const Listing = z
  .object({
    listingId,
    sellerAddress: Address,
    bondId: decimal("The bond's id: its epoch.", "202812"),
    epochId: decimal("The month of maturity, YYYYMM.", "202812"),
    amount: decimal("Bonds on offer, whole dollars of face value; sold as a whole.", "800"),
    totalPriceUsdc: decimal("Price of the whole listing, USDC, 6 decimals.", "900000000"),
    pricePerUnit: decimal(
      "Price of one bond (one dollar of face value), USDC, 6 decimals, rounded down.",
      "1125000",
    ),
    maturityDate: nullableDecimal("Unix seconds; null when no event told it.", "1861920000"),
    matured: z.boolean().openapi({ description: "Whether the bonds can be redeemed at the block's time." }),
    status: z.literal("active"),
    createdAt: UnixSeconds.openapi({ description: "When it was listed, Unix seconds." }),
    txHash: Bytes32.openapi({ description: "The transaction that listed it." }),
    blockNumber: decimal("Its block.", "1234"),
    logIndex,
  })
  .openapi("Listing");

export const activeListingsRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/active-listings",
  operationId: "listActiveListings",
  tags: ["stats", "marketplace"],
  summary: "Listings that can be bought, newest first",
  request: {
    query: z
      .object({ limit: limitInput(), offset: offsetInput, cursor: idCursor })
      .superRefine(refuseOffsetWithCursor),
  },
  responses: indexedResponses(
    "One page.",
    z
      .object({
        ...pageFields,
        total: z.int().openapi({ description: "Listings that can be bought.", example: 2 }),
        listings: z.array(Listing),
      })
      .openapi("ListingFeed"),
    "validation_error",
  ),
});

const Sale = z
  .object({
    listingId,
    buyer: Address,
    seller: Address,
    bondId: nullableDecimal("The bond's id; null when the index does not know the listing.", "202812"),
    epochId: nullableDecimal("The month of maturity, YYYYMM.", "202812"),
    amount: nullableDecimal("Bonds sold, whole dollars of face value.", "800"),
    totalPriceUsdc: decimal("Price before fees, USDC, 6 decimals.", "900000000"),
    pricePerUnit: nullableDecimal("Price of one bond, USDC, 6 decimals, rounded down.", "1125000"),
    sellerFeeUsdc: decimal("Taken from the seller, USDC, 6 decimals.", "13500000"),
    buyerFeeUsdc: decimal("Paid by the buyer on top, USDC, 6 decimals.", "13500000"),
    listedAt: nullableDecimal("When it was listed, Unix seconds.", "1767225600"),
    soldAt: UnixSeconds.openapi({ description: "When it was sold, Unix seconds." }),
    txHash: Bytes32.openapi({ description: "The transaction of the sale." }),
    blockNumber: decimal("Its block.", "1234"),
    logIndex,
  })
  .openapi("Sale");

export const recentSalesRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/recent-sales",
  operationId: "listRecentSales",
  tags: ["stats", "marketplace"],
  summary: "Filled listings, the newest sale first",
  request: { query: feedQuery({}).superRefine(refuseOffsetWithCursor) },
  responses: indexedResponses(
    "One page.",
    z.object({ ...pageFields, sales: z.array(Sale) }).openapi("SaleFeed"),
    "validation_error",
  ),
});
