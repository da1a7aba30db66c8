import { z } from "@hono/zod-openapi";
import { SEQUENCER_GRACE } from "../../../lib/price-rules.ts";
import { nullableAddress, nullableBytes32, nullableDecimal, UnixSeconds } from "../../http/field-types.ts";
import { cursorField, feedQuery, refuseFeedQuery } from "../../http/paging.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { integer, position } from "../fields.ts";
import { stopScopes } from "./queries.ts";

const scopes =
  "`router`: by the router's owner; `auto`: the router, while the token's price is too low; `global`: everything; `sequencer`: the chain's sequencer was down.";

const PauseState = (what: string) =>
  z
    .object({
      paused: z.boolean().openapi({ example: false }),
      since: nullableDecimal(
        "Start of this state, Unix seconds; null if there was never a pause.",
        "1767225600",
      ),
    })
    .openapi({ description: what });

const Pause = z
  .object({
    scope: z.enum(stopScopes).openapi({ description: scopes }),
    started_at: UnixSeconds,
    ended_at: nullableDecimal("Unix seconds; null while it lasts.", "1767229200"),
    duration_seconds: integer(
      "Until the end, or until the indexed block while it lasts; never negative.",
      3600,
    ),
    started_by: nullableAddress("The account that began a global pause; null for the others."),
    ended_by: nullableAddress("The account that ended it."),
    start_price: nullableDecimal(
      "The token's price that began an automatic pause, USD with 18 decimals; null for the others.",
    ),
    end_price: nullableDecimal("The price that ended it."),
    end_tx_hash: nullableBytes32("Transaction that ended it; null while it lasts."),
    tx_hash: position.tx_hash,
    block_number: position.block_number,
    log_index: position.log_index,
  })
  .openapi("Pause");

export const pausesRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/pauses",
  operationId: "listPauses",
  tags: ["stats"],
  summary: "List pauses and outages, with the current state",
  description:
    "Pauses of the protocol from their start to their end. A pause, of the router by its owner or by the price, or of the whole protocol, stops sales only: sold policies are paid. `from` and `to` are about their start. Outages of the chain's sequencer that began since the first indexed block stand among them, from the start to the end that its uptime feed has reported: until an hour after the end no policy is sold or triggered. Order and cursor go by the event's block; an outage began before its block.",
  request: { query: feedQuery({}).superRefine(refuseFeedQuery) },
  responses: indexedResponses(
    "One page, the newest pause first.",
    z
      .object({
        pauses: z.array(Pause),
        count: integer("Pauses in this response.", 1),
        next_cursor: cursorField,
        state: z.object({
          router: PauseState("The router, by its owner."),
          auto: PauseState("The router, by the token's price."),
          global: PauseState("Everything."),
        }),
        sequencer: z
          .object({
            up: z.boolean().openapi({ example: true }),
            since: UnixSeconds.openapi({ description: "Start of this status, Unix seconds." }),
            accepted: z.boolean().openapi({
              description: `Whether the contracts sell and pay cover: the sequencer is up for more than ${SEQUENCER_GRACE} seconds.`,
            }),
          })
          .nullable()
          .openapi({ description: "The status of the chain's sequencer; null while unknown." }),
      })
      .openapi("Pauses"),
    "validation_error",
  ),
});
