import { z } from "@hono/zod-openapi";
import { nullableDecimal } from "../../http/field-types.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { decimal, dollars } from "../fields.ts";

const amounts = {
  minted_usd: dollars("Bonds issued for triggered policies.", "83000"),
  redeemed_usd: dollars("Redeemed and paid, at once or from the queue.", "1040"),
  queued_usd: dollars("Burned for redemptions that wait in the queue.", "66000"),
  surrendered_usd: dollars("Given up by their holders.", "77"),
  outstanding_usd: dollars("In circulation: the supply of the ERC-1155 token.", "15883"),
  listed_usd: dollars("Of these, in escrow for active listings of the marketplace.", "750"),
};

export const maturitiesRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/bonds/maturities",
  operationId: "getBondMaturities",
  tags: ["stats"],
  summary: "Get the ladder of bond maturities",
  description:
    "One row per epoch, the month in which its bonds mature. In each row and in the total, `minted_usd` − `redeemed_usd` − `queued_usd` − `surrendered_usd` = `outstanding_usd`.",
  responses: indexedResponses(
    "Every epoch with bonds, the earliest first.",
    z
      .object({
        epochs: z.array(
          z
            .object({
              epoch_id: decimal("The month of maturity, YYYYMM: the bonds' id.", "202812"),
              maturity_date: nullableDecimal("Unix seconds; null when unknown.", "1861919999"),
              matured: z
                .boolean()
                .openapi({ description: "Whether the bonds are redeemable at the block's time." }),
              ...amounts,
            })
            .openapi("BondMaturity"),
        ),
        total: z.object(amounts).openapi({ description: "The sums over all epochs." }),
      })
      .openapi("BondMaturities"),
  ),
});
