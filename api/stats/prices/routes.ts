import { z } from "@hono/zod-openapi";
import { MAX_PRICE_AGE } from "../../../lib/price-rules.ts";
import { assetSymbols } from "../../../lib/products.ts";
import { CoveredAsset, nullableDecimal } from "../../http/field-types.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { integer, signed } from "../fields.ts";
import { tokenPriceField } from "../token-price.ts";

const nullBefore = "Null before the first answer.";

export const pricesRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/prices",
  operationId: "getPrices",
  tags: ["stats"],
  summary: "Get the current prices of the covered assets and the token",
  description:
    "The newest answer of each asset's feed at the indexed block, by which policies are sold and triggered, and the token's price by which the vault counts.",
  responses: indexedResponses(
    "The prices.",
    z
      .object({
        feeds: z.array(
          z
            .object({
              symbol: z.enum(assetSymbols),
              asset: CoveredAsset,
              answer: signed("USD with 8 decimals, as the feed gives it.", "6000000000000").nullable(),
              round_id: nullableDecimal(`The feed's round. ${nullBefore}`, "18446744073709551617"),
              updated_at: nullableDecimal(`Time of the answer, Unix seconds. ${nullBefore}`, "1767225600"),
              age_seconds: integer("Seconds from then to the indexed block.", 12).nullable(),
              fresh: z.boolean().openapi({
                description: `Whether the shields accept it in the indexed block: above zero, and at most ${MAX_PRICE_AGE} seconds old.`,
              }),
            })
            .openapi("FeedPrice"),
        ),
        token: tokenPriceField,
      })
      .openapi("Prices"),
  ),
});
