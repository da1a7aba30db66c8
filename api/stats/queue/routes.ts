import { z } from "@hono/zod-openapi";
import { Address, nullableDecimal, UnixSeconds } from "../../http/field-types.ts";
import { cursorField, idCursor, limitInput, periodInput, refuseEmptyPeriod } from "../../http/paging.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { decimal, dollars, integer, nullableUsdc, position, token } from "../fields.ts";
import { tokenPriceField } from "../token-price.ts";

const week = (description: string, example: string) =>
  decimal(`${description} floor(time / 7 days).`, example);

const Entry = z
  .object({
    queue_id: decimal(
      "The week of its payment × 10,000, and its place among that week's entries, from 0.",
      "29520003",
    ),
    status: z.enum(["queued", "stranded"]).openapi({
      description: "`stranded`: its week is over, and the vault pays it no more; it takes capacity for ever.",
      example: "queued",
    }),
    holder: Address,
    epoch_id: decimal("The month of the redeemed bonds' maturity, YYYYMM.", "202812"),
    usd_amount: dollars("Redeemed bonds.", "66000"),
    ahead_usd: dollars("Waiting entries of its week before this one; 0 for a stranded one.", "1200"),
    target_week: week("The week in which it can be paid.", "2952"),
    payable_from: UnixSeconds.openapi({
      description: "Start of that week, Unix seconds.",
      example: "1785369600",
    }),
    expected_from: nullableDecimal(
      "Start of its week, Unix seconds, if the vault will pay it then: by the throttle's rules, if the price stays at `token_price`, nobody redeems at once or changes the reserve, and the queue is processed until nothing fits. Null without a price, and for an entry that will be or is stranded.",
      "1785369600",
    ),
    ...position,
  })
  .openapi("QueueEntry");

export const queueStatsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/queue",
  operationId: "getRedemptionQueue",
  tags: ["stats"],
  summary: "List the redemption queue, with the week's throttle",
  description:
    "A redemption above the throttle waits in the queue of the following week. In that week the vault pays its entries in the order of their ids, as far as they fit into the week's cap, at the price of the day; what is left then is never paid. All figures follow from indexed events, at `token_price`.",
  request: {
    query: requestObject({ ...periodInput, limit: limitInput(), cursor: idCursor }).superRefine(
      refuseEmptyPeriod,
    ),
  },
  responses: indexedResponses(
    "One page of the unpaid entries, the earliest week first. `from` and `to` leave entries out by the time at which they were queued; `waiting` counts all.",
    z
      .object({
        entries: z.array(Entry),
        count: integer("Entries in this response.", 1),
        next_cursor: cursorField,
        waiting: z.object({
          entries: integer("Unpaid entries.", 1),
          usd: dollars("Their bonds.", "66000"),
          due_usd: dollars("Of these, payable in the current week.", "0"),
        }),
        throttle: z.object({
          week: week("The current redemption epoch.", "2951"),
          ends_at: UnixSeconds.openapi({
            description: "Start of the next week, Unix seconds.",
            example: "1785369600",
          }),
          limit_token: token(
            "What redemptions may take in this week: 1.08 % of the reserve.",
            "216000000000000000000000",
          ),
          paid_token: token("Paid in this week.", "10000000000000000000000"),
          left_token: token(
            "What is left of the week's limit at `token_price`: the throttle counts dollars.",
            "206000000000000000000000",
          ),
          left_usdc: nullableUsdc(
            "Its value at `token_price`. A redemption that fits in is paid at once; a wallet may redeem or queue a tenth of the week's limit. Null without a price.",
            "20600000000",
          ),
        }),
        token_price: tokenPriceField,
      })
      .openapi("RedemptionQueue"),
    "validation_error",
  ),
});
