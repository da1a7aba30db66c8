import { z } from "@hono/zod-openapi";
import { Bytes32, nullableBytes32 } from "../../http/field-types.ts";
import { periodInput, refuseEmptyPeriod } from "../../http/paging.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { dollars, integer, nullableRatio, usdc } from "../fields.ts";

const figures = {
  policies: integer("Policies bought.", 40),
  active: integer("Policies with status `Active`.", 3),
  triggered: integer("Triggered policies.", 4),
  expired: integer(
    "Policies with status `Expired`: their cover ended without a trigger, closed on chain or not.",
    32,
  ),
  coverage: usdc("Coverage of all policies bought.", "191250000000"),
  premium: usdc("All premiums paid.", "558450000"),
  payout: usdc("What all policies bought would be paid if each were triggered.", "153000000000"),
  paid: dollars("Bonds issued for triggered policies.", "8300"),
  loss_ratio: nullableRatio(
    "`paid` divided by `premium`; null without any. Bonds count with their face value, which is due two years later.",
    "14.940552",
  ),
  realised_trigger_rate: nullableRatio(
    "`triggered` divided by `triggered` and `expired` together: the share of ended policies that were triggered. Null before the first one ended.",
    "0.111111",
  ),
  break_even_trigger_rate: nullableRatio(
    "`premium` divided by `payout`: if this share of the payout were triggered, premiums would equal payouts. Null without policies.",
    "0.003650",
  ),
  modelled_trigger_rate: nullableRatio(
    "Half of `break_even_trigger_rate`: the probability of a trigger from which the premiums were computed, because a premium is twice the expected payout (margin 2.00). Weighted by payout, where `realised_trigger_rate` counts policies.",
    "0.001825",
  ),
};

export const productStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/products",
  operationId: "getProductStats",
  tags: ["stats"],
  summary: "Get statistics by product",
  description:
    "With `from` and `to`: only policies bought in this period, with their present status and payouts. `GET /api/v1/stats/series` with `product` has what happened in a period. Triggers of policies that are older than the first indexed block count only without a period. Statuses are those at the indexed block's time. Policies whose expiry the index does not know, because their product is older than the first indexed block, are neither active nor expired.",
  request: {
    query: requestObject({
      from: periodInput.from.openapi({
        description: "Only policies bought from this time on, Unix seconds.",
      }),
      to: periodInput.to.openapi({
        description: "Only policies bought before this time, Unix seconds; later than `from`.",
      }),
    }).superRefine(refuseEmptyPeriod),
  },
  responses: indexedResponses(
    "The sums as of the indexed block.",
    z
      .object({
        products: z
          .array(
            z.object({
              product_id: Bytes32,
              product_name: z
                .string()
                .nullable()
                .openapi({ description: "Null when unknown.", example: "FLASHBTC1H-001" }),
              asset: nullableBytes32(
                "The covered asset's symbol as bytes32; null when unknown.",
                "0x4254430000000000000000000000000000000000000000000000000000000000",
              ),
              ...figures,
            }),
          )
          .openapi({
            description:
              "Every product that an event has named, and every one with policies that count, by name.",
          }),
        total: z.object(figures).openapi({ description: "The same over all products." }),
      })
      .openapi("ProductStats"),
    "validation_error",
  ),
});
