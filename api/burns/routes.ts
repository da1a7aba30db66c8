import { z } from "@hono/zod-openapi";
import { burnSources } from "../../ponder.schema.ts";
import { Address, DecimalString, nullableDecimal } from "../http/field-types.ts";
import { feedQuery, pageFields, refuseFeedQuery } from "../http/paging.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { eventPosition } from "../indexed/event-position.ts";

const Burn = z
  .object({
    source: z.enum(burnSources).openapi({
      description:
        "`twap_burner`: the burner; `buyback_engine`: tokens of the reserve, burned with bonds that were bought back; `direct`: all others.",
    }),
    burner: Address.openapi({ description: "Owner of the burned tokens." }),
    tokenBurned: DecimalString.openapi({ description: "18 decimals.", example: "526000000000000000000" }),
    usdcSpent: DecimalString.openapi({
      description: "USDC, 6 decimals; 0 unless the burner bought the tokens.",
      example: "52600000",
    }),
    effectivePrice: nullableDecimal(
      "USD per token, 18 decimals; null unless the burner bought them.",
      "100000000000000000",
    ),
    ...eventPosition,
  })
  .openapi("Burn");

export const burnsRoute = createRoute({
  method: "get",
  path: "/api/v1/burns/recent",
  operationId: "listRecentBurns",
  tags: ["stats"],
  summary: "List recent burns",
  request: {
    query: feedQuery({
      source: z.enum(burnSources).optional().openapi({ description: "Only burns of this kind." }),
    }).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "One page, newest first.",
    z.object({ ...pageFields, burns: z.array(Burn) }).openapi("BurnFeed"),
    "validation_error",
  ),
});
