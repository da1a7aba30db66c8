import { z } from "@hono/zod-openapi";
import {
  Address,
  addressInput,
  Bytes32,
  DecimalString,
  nullableBytes32,
  nullableDecimal,
  UnixSeconds,
} from "../../http/field-types.ts";
import { cursorField, feedQuery, refuseFeedQuery } from "../../http/paging.ts";
import { productInput } from "../../http/product-input.ts";
import { createRoute } from "../../http/route.ts";
import { indexedResponses } from "../../indexed/documented-responses.ts";
import { dollars, integer, nullableUsdc, position } from "../fields.ts";

const UNKNOWN = "Null when the index does not know the policy.";

const Claim = z
  .object({
    product_id: Bytes32,
    product_name: z
      .string()
      .nullable()
      .openapi({ description: "Null when unknown.", example: "FLASHBTC1H-001" }),
    policy_id: DecimalString.openapi({ description: "Numbered per product.", example: "1" }),
    buyer: Address.openapi({ description: "The policy's buyer, who received the bond." }),
    submitter: Address.openapi({
      description: "The account that called the router, or else the sender of the transaction.",
      example: "0x90F79bf6EB2c4f870365E785982E1f101E93b906",
    }),
    paid: dollars("The bond that paid the policy.", "800"),
    bond_epoch: nullableDecimal(
      "The month (YYYYMM) in which that bond matures; null when unknown.",
      "202812",
    ),
    coverage: nullableUsdc(`Coverage of the policy. ${UNKNOWN}`, "1000000000"),
    payout: nullableUsdc(
      `What the policy promised; \`paid\` is this in whole dollars, rounded down. ${UNKNOWN}`,
      "800000000",
    ),
    premium: nullableUsdc(`Premium of the policy. ${UNKNOWN}`, "2920000"),
    asset: nullableBytes32(
      "The covered asset's symbol as bytes32; null when unknown.",
      "0x4254430000000000000000000000000000000000000000000000000000000000",
    ),
    strike_price: nullableDecimal(
      "The asset's price in USD at purchase, 18 decimals; null when unknown.",
      "60000000000000000000000",
    ),
    trigger_price: nullableDecimal(
      "The highest price of the asset in USD, 18 decimals, that triggered the policy; null when unknown.",
      "58500000000000000000000",
    ),
    bought_at: nullableDecimal(`When the policy was bought, Unix seconds. ${UNKNOWN}`, "1767225600"),
    first_observed_at: nullableDecimal(
      "Block time of the first of the three observations that paid; null when the index does not know it.",
      "1767226800",
    ),
    triggered_at: UnixSeconds.openapi({ description: "Block time of the trigger.", example: "1767226926" }),
    seconds_to_trigger: z.int().nullable().openapi({
      description: "From `bought_at` to `triggered_at`; null as `bought_at`.",
      example: 1326,
    }),
    seconds_from_first_observation: z.int().nullable().openapi({
      description:
        "From `first_observed_at` to `triggered_at`, at least 120: observations are 60 seconds apart. Null as `first_observed_at`.",
      example: 126,
    }),
    ...position,
  })
  .openapi("Claim");

export const claimsRoute = createRoute({
  method: "get",
  path: "/api/v1/stats/claims",
  operationId: "listClaims",
  tags: ["stats"],
  summary: "List claims",
  description: "Triggered policies, the newest first, with what was paid and how long it took.",
  request: {
    query: feedQuery({
      product: productInput
        .optional()
        .openapi({ description: "Only claims of this product: its name or its id." }),
      buyer: addressInput.optional().openapi({ description: "Only claims of this buyer." }),
    }).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "One page, newest first.",
    z
      .object({
        claims: z.array(Claim),
        count: integer("Claims in this response.", 1),
        next_cursor: cursorField,
      })
      .openapi("ClaimFeed"),
    "validation_error",
  ),
});
