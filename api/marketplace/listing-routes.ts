import { z } from "@hono/zod-openapi";
import {
  Address,
  addressInput,
  DecimalString,
  nullableBytes32,
  nullableTimestamp,
  optionalInteger,
  Timestamp,
  TxHash,
  UnixSeconds,
  uint256Input,
} from "../http/field-types.ts";
import { limitInput, offsetInput, periodInput, refuseEmptyPeriod } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { listingOrders } from "./listing-queries.ts";

const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });

const MarketListing = z
  .object({
    listingId: decimal("Id of the listing; 0 is valid.", "17"),
    seller: Address,
    sellerAddress: Address.openapi({ description: "The same as `seller`." }),
    bondId: decimal("Id of the bond: its epoch.", "202812"),
    epochId: decimal("The month of maturity, YYYYMM.", "202812"),
    amount: decimal("Bonds for sale, in whole dollars of face value; sold as a whole.", "800"),
    totalPriceUsdc: decimal("Price of the whole listing without fees, USDC, 6 decimals.", "600000000"),
    priceUsdc: decimal("The same as `totalPriceUsdc`.", "600000000"),
    pricePerUnit: decimal(
      "Price of one bond (one dollar of face value), USDC, 6 decimals, rounded down.",
      "750000",
    ),
    discountBps: z.int().openapi({
      description: "Whole basis points by which the price is below the face value; 0 at or above it.",
      example: 2500,
    }),
    maturityDate: nullableTimestamp("Null when unknown.", "2028-12-31T23:59:59.000Z"),
    matured: z.boolean().openapi({ description: "Whether the bonds are redeemable at the block's time." }),
    status: z.enum(["active", "executed", "cancelled"]).openapi({
      description:
        "`active`: for sale, as in `/api/v1/marketplace/active-listings`; `executed`: sold; `cancelled`: by the seller.",
      example: "active",
    }),
    buyer: z.string().nullable().openapi({ description: "Null unless `executed`.", example: null }),
    createdAt: Timestamp.openapi({ description: "When it was listed." }),
    listedAt: UnixSeconds.openapi({ description: "The same in Unix seconds." }),
    closedAt: nullableTimestamp("When it was sold or cancelled; null while active."),
    closedTxHash: nullableBytes32("Transaction of the sale or cancellation; null while active."),
    txHash: TxHash.openapi({ description: "The listing's transaction." }),
    blockNumber: decimal("Block of that transaction.", "1234"),
    logIndex: z.int().openapi({ description: "Index of the event's log in its block.", example: 5 }),
  })
  .openapi("MarketListing");

export const listingsRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/listings",
  operationId: "searchListings",
  tags: ["marketplace"],
  summary: "Search active listings",
  request: {
    query: requestObject({
      sortBy: z.enum(listingOrders).default("price-asc").openapi({
        description: "By total price or by listing time; `createdAt-desc` and `listedAt-desc` are the same.",
        example: "price-asc",
      }),
      maxPriceUsdc: uint256Input.optional().openapi({
        description: "Highest total price, USDC, 6 decimals.",
        example: "600000000",
      }),
      minDiscountBps: optionalInteger(0, 10_000).openapi({
        description: "Lowest `discountBps`; 0 leaves nothing out.",
        example: 500,
      }),
      seller: addressInput.optional().openapi({ description: "Only listings of this seller." }),
      ...periodInput,
      limit: limitInput(200, 50),
      offset: offsetInput,
    }).superRefine(refuseEmptyPeriod),
  },
  responses: indexedResponses(
    "One page.",
    z
      .object({
        count: z.int().openapi({ description: "Entries in this response.", example: 1 }),
        total: z.int().openapi({ description: "Active listings that match.", example: 2 }),
        limit: z.int().openapi({ example: 50 }),
        offset: z.int().openapi({ example: 0 }),
        listings: z.array(MarketListing),
      })
      .openapi("ListingSearch"),
    "validation_error",
  ),
});

export const listingRoute = createRoute({
  method: "get",
  path: "/api/v1/marketplace/listings/{listingId}",
  operationId: "getListing",
  tags: ["marketplace"],
  summary: "Get a listing",
  description: "In any status: sold and cancelled listings too.",
  request: {
    params: z.object({
      listingId: uint256Input.openapi({ description: "Id of the listing; 0 is valid.", example: "17" }),
    }),
  },
  responses: indexedResponses("The listing.", MarketListing, "validation_error", "listing_not_found"),
});
