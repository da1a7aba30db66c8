import { z } from "@hono/zod-openapi";
import { nullableDecimal } from "../../http/field-types.ts";
import { periodInput, refuseEmptyPeriod } from "../../http/paging.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { Day, decimal, dollars, integer, nullableRatio, nullableUsdc, usdc } from "../fields.ts";

const sales = {
  sales: integer("Number of sales.", 7),
  sold_usd: dollars("Bonds sold, without those of listings from before the first indexed block.", "10800"),
  volume_usdc: usdc("Sum of the prices, before fees.", "11900000000"),
  fees_usdc: usdc("Fees of sellers and buyers.", "357000000"),
  average_price: nullableUsdc("Price per bond in `sold_usd`, rounded down; null without any.", "1101851"),
};

const floorPrice = (of: string) =>
  nullableUsdc(`Lowest price of one bond, a dollar of face value, among ${of}; null without any.`, "980000");

const Epoch = z
  .object({
    epoch_id: decimal("The month of maturity, YYYYMM: the bonds' id.", "202812"),
    maturity_date: nullableDecimal("Unix seconds; null when unknown.", "1861919999"),
    active_listings: integer("Active listings.", 2),
    listed_usd: dollars("Bonds in active listings.", "750"),
    floor_price: floorPrice("the epoch's active listings"),
    floor_to_face: nullableRatio(
      "`floor_price` divided by the face value of a dollar. Null without it.",
      "0.980000",
    ),
    implied_yield: nullableRatio(
      "Yearly yield of a bond bought at `floor_price` before fees and paid with its face value at maturity, without compounding: (1 − floor_to_face) / floor_to_face × 365 days / time to maturity. Below 0 above the face value. Null without a floor, at a floor of 0, and from maturity on.",
      "0.010279",
    ),
    ...sales,
  })
  .openapi("MarketEpoch");

export const marketRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/market",
  operationId: "getMarketStatistics",
  tags: ["stats"],
  summary: "Get the bond market by day and by epoch",
  description:
    "Sales by UTC day, and floor prices, yields and sales by the bonds' epoch. `from` and `to` narrow `by_day` to the UTC days of these times. Sales of listings from before the first indexed block are in no epoch. `GET /api/v1/marketplace/stats` has the figures of all time.",
  request: { query: requestObject(periodInput).superRefine(refuseEmptyPeriod) },
  responses: indexedResponses(
    "The market.",
    z
      .object({
        by_day: z.array(z.object({ day: Day, ...sales }).openapi("MarketDay")).openapi({
          description:
            "Every day of the period, from the first with a sale to the indexed block's, oldest first.",
        }),
        by_epoch: z.array(Epoch).openapi({
          description:
            "Every epoch with listings or sales so far, the earliest first. Sales are of all time.",
        }),
        floor_price: floorPrice("all active listings"),
        sales_24h: integer("Sales of the 24 hours before the indexed block.", 1),
        volume_24h_usdc: usdc("Sum of their prices, before fees.", "150000000"),
      })
      .openapi("MarketStatistics"),
    "validation_error",
  ),
});
