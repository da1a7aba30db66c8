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
    queue_id: decimal("The entry's place in the queue since the first one, from 1.", "3"),
    holder: Address,
    epoch_id: decimal("The month of the redeemed bonds' maturity, YYYYMM.", "202812"),
    usd_amount: dollars("Redeemed bonds.", "66000"),
    ahead_usd: dollars("Waiting entries that are paid before this one.", "1200"),
    target_week: week("The first week in which it can be paid.", "2952"),
    payable_from: UnixSeconds.openapi({
      description: "Start of that week, Unix seconds.",
      example: "1785369600",
    }),
    expected_from: nullableDecimal(
      "Start of the week in which the vault will pay it, or of the current week, Unix seconds: by the throttle's rules, if the price stays at `token_price`, nobody redeems at once or changes the reserve, and the queue is processed each week. Null without a price, and when the reserve does not suffice.",
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
    "A redemption above the throttle waits in the queue from the following week on. The vault pays entries in the order of their ids, at the price of that day. All figures follow from indexed events; `throttle.left_token` equals the contract's `throttleLeft()` in the indexed block.",
  request: {
    query: requestObject({ ...periodInput, limit: limitInput(), cursor: idCursor }).superRefine(
      refuseEmptyPeriod,
    ),
  },
  responses: indexedResponses(
    "One page of the waiting entries, the next to be paid first. `from` and `to` leave entries out by the time at which they were queued; `waiting` counts all.",
    z
      .object({
        entries: z.array(Entry),
        count: integer("Entries in this response.", 1),
        next_cursor: cursorField,
        waiting: z.object({
          entries: integer("Waiting entries.", 1),
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
            "What redemptions may take in this week: 1.08 % of the reserve at its start.",
            "216000000000000000000000",
          ),
          paid_token: token("Paid in this week.", "10000000000000000000000"),
          left_token: token("What is left of the week's limit.", "206000000000000000000000"),
          left_usdc: nullableUsdc(
            "Its value at `token_price`. A redemption is paid at once if it and the due entries fit in. Null without a price.",
            "20600000000",
          ),
        }),
        token_price: tokenPriceField,
      })
      .openapi("RedemptionQueue"),
    "validation_error",
  ),
});
