import { createRoute, z } from "@hono/zod-openapi";
import { activityTypes, burnSources } from "../../ponder.schema.ts";
import {
  Address,
  addressInput,
  Bytes32,
  DecimalString,
  UnixSeconds,
  unixSecondsInput,
} from "../http/field-types.ts";
import {
  cursorField,
  feedQuery,
  limitInput,
  offsetInput,
  positionCursor,
  refuseOffsetWithCursor,
} from "../http/paging.ts";
import { indexedResponses } from "../index/documented-responses.ts";

const integer = (description: string, example: number) => z.int().openapi({ description, example });
const decimal = (description: string, example: string) => DecimalString.openapi({ description, example });
const token = (what: string) => decimal(`${what} 18 decimals.`, "12500000000000000000");
const usdc = (what: string) => decimal(`${what} USDC, 6 decimals.`, "52600000");
const dollars = (what: string) => decimal(`${what} Whole dollars of face value.`, "800");

/** Where an event stands, in the field case of the statistics. */
const position = {
  tx_hash: Bytes32,
  block_number: decimal("Block of the event.", "1234"),
  block_timestamp: UnixSeconds,
  log_index: integer("Place of the event's log in its block.", 5),
};

const burnSums = {
  token_burned: token("Tokens burned."),
  usdc_spent: usdc("Spent by burners for them."),
  burns: integer("Number of burns.", 1),
};

export const burnStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/burns",
  operationId: "getBurnStats",
  tags: ["stats"],
  summary: "Burned tokens, in total, by day and by source",
  description:
    "Burned tokens are the token's transfers to the zero address, once each. A day is a UTC day, by the time of the block; today is the indexed block's.",
  responses: indexedResponses(
    "The sums.",
    z
      .object({
        total_token_burned: token("Tokens burned."),
        total_usdc_volume: usdc("Spent by burners."),
        last_30_days_burned: token("Burned on the last 30 UTC days, today included."),
        burns_count: integer("Number of burns.", 12),
        by_day: z
          .array(
            z.object({
              day: z.string().openapi({ description: "UTC day.", example: "2026-01-31" }),
              ...burnSums,
            }),
          )
          .openapi({
            description:
              "Each day from the first burn's to today, oldest first; days without burns are zero.",
          }),
        by_source: z.array(z.object({ source: z.enum(burnSources), ...burnSums })).openapi({
          description: "Each kind of burner, and `direct` for tokens that were burned without one.",
        }),
      })
      .openapi("BurnStats"),
  ),
});

export const protocolStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/protocol",
  operationId: "getProtocolStats",
  tags: ["stats"],
  summary: "The protocol in numbers",
  responses: indexedResponses(
    "The sums as of the indexed block; policies are counted by their status at its time.",
    z
      .object({
        active_policies: integer("Policies with status `Active`.", 3),
        waiting_policies: integer("Policies with status `Waiting`.", 0),
        policies_total: integer("Policies ever bought.", 40),
        policies_triggered: integer("Of these, triggered.", 4),
        policies_cancelled: integer("Of these, cancelled.", 1),
        coverage_total: usdc("Coverage of all policies ever bought."),
        bonds_outstanding_usd: dollars("Bonds minted and not burned."),
        bonds_queued_usd: dollars("Bonds burned for redemptions that wait in the queue."),
        total_premium_collected: usdc("All premiums paid, those that were refunded later included."),
        total_premium_refunded: usdc("Premiums given back for cancelled policies."),
        marketplace_volume_total: usdc("Prices of all sales."),
        marketplace_sales: integer("Number of sales.", 7),
        active_listings: integer("Listings that can be bought.", 2),
        token_total_burned: token("Tokens burned."),
        token_circulating: token("The supply of 100 million tokens, less those burned."),
      })
      .openapi("ProtocolStats"),
  ),
});

const Activity = z
  .object({
    type: z.enum(activityTypes),
    actor: Address.openapi({
      description: "Buyer of the policy or listing, holder of the bond, or whose tokens were burned.",
    }),
    amount: DecimalString.openapi({
      description:
        "`policy_purchased`: coverage (USDC, 6 decimals); `bond_minted`, `bond_redeemed`: whole dollars; `marketplace_buy`: price (USDC); `token_burned`: tokens (18 decimals).",
    }),
    ref: z.string().openapi({
      description: "`productId:policyId`, the bond's epoch, the listing's id, or the burn's source.",
      example: "1",
    }),
    ...position,
  })
  .openapi("Activity");

export const activityRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/activity",
  operationId: "getActivity",
  tags: ["stats"],
  summary: "The unified feed",
  request: {
    query: feedQuery(
      {
        type: z.enum(activityTypes).optional().openapi({ description: "Events of this type alone." }),
        actor: addressInput.optional().openapi({ description: "Events of this actor alone." }),
        since: unixSecondsInput.optional().openapi({ description: "Events of blocks from this time on." }),
      },
      { defaultLimit: 100 },
    ).superRefine(refuseOffsetWithCursor),
  },
  responses: indexedResponses(
    "At most 100 events, newest first.",
    z
      .object({
        events: z.array(Activity),
        count: integer("Events in this answer.", 1),
        next_cursor: cursorField,
      })
      .openapi("ActivityFeed"),
    "validation_error",
  ),
});

/** What the `range` of a price history stands for, in seconds; null is all of it. */
export const PRICE_RANGES = { "24h": 86_400n, "7d": 604_800n, "30d": 2_592_000n, all: null } as const;
const ranges = ["24h", "7d", "30d", "all"] as const satisfies readonly (keyof typeof PRICE_RANGES)[];

export const priceHistoryRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/token-price-history",
  operationId: "getTokenPriceHistory",
  tags: ["stats"],
  summary: "Prices of the protocol token, as burners paid them",
  description:
    "One point for each `BurnExecuted`. A range ends with the indexed block. Of a range with more points than `limit`, the newest are answered; `next_cursor` leads to those before.",
  request: {
    query: z
      .object({
        range: z
          .enum(ranges)
          .default("30d")
          .openapi({ description: "How far back; `all` is from the first burn on." }),
        limit: limitInput(1000, 1000),
        offset: offsetInput,
        cursor: positionCursor,
      })
      .superRefine(refuseOffsetWithCursor),
  },
  responses: indexedResponses(
    "The points, oldest first.",
    z
      .object({
        range: z.enum(ranges),
        from: z.string().regex(/^\d+$/).nullable().openapi({
          description: "Unix seconds at which the range begins; null for `all`.",
          example: "1767225600",
        }),
        count: integer("Points in this answer.", 1),
        points: z.array(
          z
            .object({
              timestamp: UnixSeconds,
              price: decimal("USD per token, 18 decimals.", "100000000000000000"),
              token_burned: token("Tokens burned at that price."),
              usdc_spent: usdc("Spent for them."),
              source: z.enum(["twap_burner", "buyback_engine"]),
              tx_hash: Bytes32,
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
