import { z } from "@hono/zod-openapi";
import { Bytes32, nullableBytes32 } from "../../http/field-types.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { integer, usdc } from "../fields.ts";

const sums = {
  active: z
    .object({
      policies: integer("Active policies.", 3),
      coverage: usdc("Their coverage.", "3000000000"),
      payout: usdc("What they would be paid, in bonds, if each were triggered.", "2400000000"),
    })
    .openapi({ description: "Policies with status `Active`." }),
};

export const coverRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/cover",
  operationId: "getCover",
  tags: ["stats"],
  summary: "Get the active cover",
  description:
    "The policies that are open at the indexed block's time. Policies whose expiry the index does not know, because their product is older than the first indexed block, are left out.",
  responses: indexedResponses(
    "The sums as of the indexed block.",
    z
      .object({
        ...sums,
        by_product: z
          .array(
            z.object({
              product_id: Bytes32,
              product_name: z
                .string()
                .nullable()
                .openapi({ description: "Null when unknown.", example: "FLASHBTC1H-001" }),
              ...sums,
            }),
          )
          .openapi({
            description: "Every product that the index knows, by name; without open policies it has zeros.",
          }),
        by_asset: z
          .array(
            z.object({
              asset: nullableBytes32(
                "The covered asset's symbol as bytes32; null when unknown.",
                "0x4254430000000000000000000000000000000000000000000000000000000000",
              ),
              symbol: z.string().nullable().openapi({ description: "Null when unknown.", example: "BTC" }),
              ...sums,
            }),
          )
          .openapi({ description: "Each asset with open policies." }),
        by_expiry: z
          .array(
            z.object({
              after_seconds: integer(
                "Later than so many seconds after the indexed block; 0 includes the block's time.",
                0,
              ),
              within_seconds: z.int().nullable().openapi({
                description: "At most so many seconds after it; null for all that expire later.",
                example: 3600,
              }),
              ...sums,
            }),
          )
          .openapi({
            description:
              "By the time that is left until expiry: an hour, 6 hours, a day, 2 days, 7 days, longer.",
          }),
      })
      .openapi("Cover"),
  ),
});
