import { z } from "@hono/zod-openapi";
import { Address, uint256Input } from "../../http/field-types.ts";
import { cursorField } from "../../http/paging.ts";
import { requestObject } from "../../http/request-object.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { decimal, dollars, integer, nullableRatio, usdc } from "../fields.ts";
import { rankingInput } from "./ranking.ts";

export const holdersRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/holders",
  operationId: "listBondHolders",
  tags: ["stats"],
  summary: "List bond holders by their bonds",
  description:
    "Wallets that hold bonds, matured ones too. Bonds in escrow for an active listing count for their seller.",
  request: {
    query: requestObject({
      epoch: uint256Input.optional().openapi({
        description: "Only bonds of this epoch, YYYYMM.",
        example: "202812",
      }),
      ...rankingInput,
    }),
  },
  responses: indexedResponses(
    "One page, the largest holder first, of equal ones the one with the higher address. The figures are of the given epoch, or of all.",
    z
      .object({
        holders: z.array(
          z
            .object({
              holder: Address,
              bonds_usd: dollars("Its bonds.", "15883"),
              share: nullableRatio("Its part of all bonds in circulation.", "0.542081"),
            })
            .openapi("BondHolder"),
        ),
        count: integer("Holders in this response.", 1),
        next_cursor: cursorField,
        holders_total: integer("Number of holders.", 12),
        outstanding_usd: dollars("Bonds in circulation.", "29300"),
        top_10_share: nullableRatio(
          "Part of these that the ten largest holders have; null without bonds.",
          "0.981000",
        ),
        by_epoch: z
          .array(
            z
              .object({
                epoch_id: decimal("The month of maturity, YYYYMM: the bonds' id.", "202812"),
                holders: integer("Number of its holders.", 9),
                outstanding_usd: dollars("Its bonds in circulation.", "15883"),
              })
              .openapi("EpochHolders"),
          )
          .openapi({ description: "Every epoch, the earliest first, whether or not one is given." }),
      })
      .openapi("BondHolders"),
    "validation_error",
  ),
});

export const buyersRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/buyers",
  operationId: "listBuyers",
  tags: ["stats"],
  summary: "List buyers by their coverage",
  description: "Wallets that bought policies, by the coverage of all their policies so far.",
  request: { query: requestObject(rankingInput) },
  responses: indexedResponses(
    "One page, the largest buyer first, of equal ones the one with the higher address.",
    z
      .object({
        buyers: z.array(
          z
            .object({
              buyer: Address,
              policies: integer("Policies bought.", 3),
              coverage_usdc: usdc("Their coverage.", "150000000000"),
              premium_usdc: usdc("Their premiums.", "8120000000"),
              share: nullableRatio("Part of all coverage so far; null without coverage.", "0.784313"),
            })
            .openapi("Buyer"),
        ),
        count: integer("Buyers in this response.", 1),
        next_cursor: cursorField,
        buyers_total: integer("Number of buyers.", 12),
        coverage_usdc: usdc("Coverage of all policies so far.", "191250000000"),
        top_10_share: nullableRatio(
          "Part of it that the ten largest buyers have; null without coverage.",
          "0.981000",
        ),
      })
      .openapi("Buyers"),
    "validation_error",
  ),
});
