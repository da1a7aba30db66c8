import { z } from "@hono/zod-openapi";
import { nullableAddress } from "../../http/field-types.ts";
import { periodInput, refuseEmptyPeriod } from "../../http/paging.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { Day, integer, nullableUsdc, token, usdc } from "../fields.ts";

export const burnerSources = ["twap_burner", "buyback_engine"] as const;

const source = z.enum(burnerSources).openapi({
  description:
    "`twap_burner` receives premiums and the marketplace's fees, buys tokens and burns them; `buyback_engine` buys listed bonds back, and burns tokens of the reserve with them.",
});
const sums = {
  premium_usdc: usdc("Premiums received from the router.", "9120500000"),
  fee_usdc: usdc("Fees of the marketplace received.", "0"),
  spent_usdc: usdc("Spent on tokens; 0 of the buyback engine, which burns the reserve's.", "60000000"),
  token_burned: token("Tokens burned.", "600000000000000000000"),
  burns: integer("Number of burns.", 3),
};

export const burnersRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/burners",
  operationId: "getBurnerStats",
  tags: ["stats"],
  summary: "Get what the burner contracts received, spent and burned",
  description:
    "From the events of burner, buyback engine and marketplace. All other burns are in `GET /api/v1/stats/burns`. `from` and `to` narrow `by_day` to the UTC days of these times; the sums are of all time.",
  request: { query: requestObject(periodInput).superRefine(refuseEmptyPeriod) },
  responses: indexedResponses(
    "The flows by day, and the burners.",
    z
      .object({
        by_day: z.array(z.object({ day: Day, source, ...sums }).openapi("BurnerDay")).openapi({
          description:
            "Both burners on every day of the period, from the first with an event to the indexed block's, oldest first.",
        }),
        burners: z
          .array(
            z
              .object({
                source,
                address: nullableAddress(
                  "The contract; null when the deployment does not name it.",
                  "0x9fE46736679d2D9a65F0992F2272dE9f3c7fa6e0",
                ),
                ...sums,
                pending_usdc: nullableUsdc(
                  "What the contract holds and has not spent yet, from the chain at the indexed block; null while the chain does not answer.",
                  "9060500000",
                ),
              })
              .openapi("Burner"),
          )
          .openapi({ description: "Both burners with their sums of all time." }),
      })
      .openapi("BurnerStats"),
    "validation_error",
  ),
});
