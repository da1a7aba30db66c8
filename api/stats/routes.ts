import { z } from "@hono/zod-openapi";
import { activityTypes, burnSources } from "../../ponder.schema.ts";
import {
  Address,
  addressInput,
  DecimalString,
  TxHash,
  UnixSeconds,
  unixSecondsInput,
} from "../http/field-types.ts";
import {
  cursorField,
  feedQuery,
  limitInput,
  offsetInput,
  periodInput,
  positionCursor,
  refuseEmptyPeriod,
  refuseFeedQuery,
} from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { Day, decimal, dollars, integer, position, token, usdc } from "./fields.ts";

const burnSums = {
  token_burned: token("Tokens burned."),
  usdc_spent: usdc("Spent by the burner on the tokens."),
  burns: integer("Number of burns.", 1),
};

export const burnStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/burns",
  operationId: "getBurnStats",
  tags: ["stats"],
  summary: "Get burn statistics",
  description:
    "Burns are the token's transfers to the zero address. Days are UTC days of block times; today is the indexed block's day. `from` and `to` narrow `by_day` to the UTC days of these times; the sums are of all time.",
  request: { query: requestObject(periodInput).superRefine(refuseEmptyPeriod) },
  responses: indexedResponses(
    "The sums.",
    z
      .object({
        total_token_burned: token("Tokens burned.", "132890000000000000000000"),
        total_usdc_volume: usdc("Spent by the burner.", "1242000000"),
        last_30_days_burned: token(
          "Burned within the last 30 UTC days, including today.",
          "12420000000000000000000",
        ),
        burns_count: integer("Number of burns.", 12),
        by_day: z
          .array(
            z.object({
              day: Day,
              ...burnSums,
            }),
          )
          .openapi({
            description:
              "Every day of the period, from its first burn to today, oldest first; days without burns are zero.",
          }),
        by_source: z.array(z.object({ source: z.enum(burnSources), ...burnSums })).openapi({
          description: "By the burner, by the buyback engine, and `direct` for all others.",
        }),
      })
      .openapi("BurnStats"),
    "validation_error",
  ),
});

export const protocolStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/protocol",
  operationId: "getProtocolStats",
  tags: ["stats"],
  summary: "Get protocol statistics",
  responses: indexedResponses(
    "The sums as of the indexed block; policies are counted by their status at its time.",
    z
      .object({
        active_policies: integer("Policies with status `Active`.", 3),
        policies_total: integer("Policies bought so far.", 40),
        policies_triggered: integer("Triggered policies.", 4),
        coverage_total: usdc("Coverage of all policies bought so far.", "191250000000"),
        bonds_outstanding_usd: dollars("Bonds minted and not burned.", "8300"),
        bonds_queued_usd: dollars("Bonds in the redemption queue.", "75000"),
        total_premium_collected: usdc("All premiums paid.", "9120500000"),
        marketplace_volume_total: usdc("Sum of the prices of all sales.", "3840000000"),
        marketplace_sales: integer("Number of sales.", 7),
        active_listings: integer("Active listings.", 2),
        token_total_burned: token("Tokens burned.", "132890000000000000000000"),
        token_circulating: token(
          "The supply of 100 million tokens minus burned ones.",
          "99867110000000000000000000",
        ),
      })
      .openapi("ProtocolStats"),
  ),
});

const Activity = z
  .object({
    type: z.enum(activityTypes),
    actor: Address.openapi({
      description: "Buyer of the policy or listing, holder of the bond, or owner of the burned tokens.",
    }),
    amount: DecimalString.openapi({
      description:
        "`policy_purchased`: coverage (USDC, 6 decimals); `bond_minted`, `bond_redeemed`: whole dollars; `marketplace_buy`: price (USDC); `token_burned`: tokens (18 decimals).",
      example: "1000000000",
    }),
    ref: z.string().openapi({
      description: "`productId:policyId`, the bond's epoch, the listing's id, or the burn's source.",
      example: "0xe87625ef7415a58c92f2639b16d176521429aac002386dddf1e47e419dfeaddd:1",
    }),
    ...position,
  })
  .openapi("Activity");

export const activityRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/activity",
  operationId: "getActivity",
  tags: ["stats"],
  summary: "List activity",
  request: {
    query: feedQuery(
      {
        type: z.enum(activityTypes).optional().openapi({ description: "Only events of this type." }),
        actor: addressInput.optional().openapi({ description: "Only events of this actor." }),
        since: unixSecondsInput
          .optional()
          .openapi({ description: "The older name of `from`; of both the later one counts." }),
      },
      { defaultLimit: 100 },
    ).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "At most 100 events, newest first.",
    z
      .object({
        events: z.array(Activity),
        count: integer("Events in this response.", 1),
        next_cursor: cursorField,
      })
      .openapi("ActivityFeed"),
    "validation_error",
  ),
});

/** The ranges of a price history in seconds; null for all of it. */
export const PRICE_RANGES = { "24h": 86_400n, "7d": 604_800n, "30d": 2_592_000n, all: null } as const;
const ranges = ["24h", "7d", "30d", "all"] as const satisfies readonly (keyof typeof PRICE_RANGES)[];

export const priceHistoryRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/token-price-history",
  operationId: "getTokenPriceHistory",
  tags: ["stats"],
  summary: "Get the token's price history",
  description:
    "One point per `BurnExecuted`, at the price that the burner paid. A range ends at the indexed block. If it has more points than `limit`, the response has the newest; `next_cursor` leads to older ones.",
  request: {
    query: requestObject({
      range: z.enum(ranges).optional().openapi({
        description:
          "How far back; `all` starts at the first burn. If absent, `all` with `from` or `to`, and `30d` without.",
      }),
      ...periodInput,
      limit: limitInput(1000, 1000),
      offset: offsetInput,
      cursor: positionCursor,
    }).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "The points, oldest first.",
    z
      .object({
        range: z.enum(ranges),
        from: z.string().regex(/^\d+$/).nullable().openapi({
          description: "Start of the range or `from`, whichever is later, Unix seconds; null for neither.",
          example: "1767225600",
        }),
        count: integer("Points in this response.", 1),
        points: z.array(
          z
            .object({
              timestamp: UnixSeconds,
              price: decimal("USD per token, 18 decimals.", "100000000000000000"),
              token_burned: token("Tokens burned at that price."),
              usdc_spent: usdc("Spent on the tokens."),
              source: z.enum(["twap_burner", "buyback_engine"]),
              tx_hash: TxHash,
              block_number: position.block_number,
              log_index: position.log_index,
            })
            .openapi("PricePoint"),
        ),
        next_cursor: cursorField,
      })
      .openapi("PriceHistory"),
    "validation_error",
  ),
});
