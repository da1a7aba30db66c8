import { z } from "@hono/zod-openapi";
import { bytes32Input, CoveredAsset, UnixSeconds } from "../../http/field-types.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { decimal, integer } from "../fields.ts";
import type { PriceRange } from "./history-queries.ts";

/** Steps for three hundred points or so, as many as a picture has room for. */
export const assetPriceRanges = {
  "1h": { seconds: 3600n, step: 12n },
  "24h": { seconds: 86_400n, step: 300n },
  "7d": { seconds: 604_800n, step: 1800n },
  "30d": { seconds: 2_592_000n, step: 7200n },
} as const satisfies Record<string, PriceRange>;
const ranges = ["1h", "24h", "7d", "30d"] as const satisfies readonly (keyof typeof assetPriceRanges)[];
const DEFAULT_RANGE = "24h";

const price = (what: string) =>
  decimal(`${what} in USD, 18 decimals, as in policies.`, "60000000000000000000000");

export const assetPriceHistoryRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/price-history",
  operationId: "getAssetPriceHistory",
  tags: ["stats"],
  summary: "Get the price history of a covered asset",
  description:
    "The rounds of the asset's feed in steps of equal length. Policies are sold and triggered by these rounds. The last step has the indexed block. A step without a round has no point: the price before it still holds. The first point is the newest round before the range, where the index has one. A round counts if the feed answered from its aggregator then; when the feed takes a new aggregator, the answer that it already has counts at the time of the change.",
  request: {
    query: requestObject({
      asset: bytes32Input.openapi({
        description: "The asset's symbol as bytes32.",
        example: "0x4254430000000000000000000000000000000000000000000000000000000000",
      }),
      range: z
        .enum(ranges)
        .default(DEFAULT_RANGE)
        .openapi({
          description: `How far back, in steps of ${ranges.map((range) => `${assetPriceRanges[range].step} seconds for \`${range}\``).join(", ")}.`,
        }),
    }),
  },
  responses: indexedResponses(
    "The points, oldest first.",
    z
      .object({
        asset: CoveredAsset,
        range: z.enum(ranges),
        from: UnixSeconds.openapi({ description: "Start of the range.", example: "1767225600" }),
        to: UnixSeconds.openapi({ description: "End of its last step, exclusive.", example: "1767312000" }),
        step_seconds: integer("Length of a step.", 300),
        count: integer("Points in this response.", 1),
        points: z.array(
          z
            .object({
              timestamp: UnixSeconds.openapi({ description: "Time of the step's newest round." }),
              price: price("Price of that round"),
              lowest: price("Lowest price of the step"),
              highest: price("Highest price of the step"),
              rounds: integer("Rounds of the step; the answer of a new aggregator is one.", 1),
            })
            .openapi("AssetPricePoint"),
        ),
      })
      .openapi("AssetPriceHistory"),
    "validation_error",
  ),
});

export type AssetPriceQuery = { readonly asset: `0x${string}`; readonly range: (typeof ranges)[number] };
