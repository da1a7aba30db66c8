import { createRoute, z } from "@hono/zod-openapi";
import { burnSources } from "../../ponder.schema.ts";
import { Address, Bytes32, DecimalString, nullableDecimal, UnixSeconds } from "../http/field-types.ts";
import { feedQuery, pageFields, refuseOffsetWithCursor } from "../http/paging.ts";
import { indexedResponses } from "../index/documented-responses.ts";

/** Where an event stands in the chain. */
const position = {
  txHash: Bytes32,
  blockNumber: DecimalString.openapi({ description: "Block of the event.", example: "1234" }),
  blockTimestamp: UnixSeconds,
  logIndex: z.int().openapi({ description: "Place of the event's log in its block.", example: 5 }),
};

const TriggerSubmission = z
  .object({
    productId: Bytes32,
    productName: z
      .string()
      .nullable()
      .openapi({ description: "Null when it is not known.", example: "FLASHBTC1H-001" }),
    policyId: DecimalString.openapi({ description: "Counts per product.", example: "1" }),
    submitter: Address.openapi({ description: "Who sent the transaction." }),
    buyer: z
      .string()
      .regex(/^0x[a-fA-F0-9]{40}$/)
      .nullable()
      .openapi({
        description: "The policy's buyer, who got the bond.",
        example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
      }),
    bondId: nullableDecimal("Epoch (YYYYMM) of the bond that paid the policy.", "202812"),
    bondAmount: nullableDecimal("Face value of that bond in whole dollars.", "800"),
    ...position,
  })
  .openapi("TriggerSubmission");

export const triggersRoute = createRoute({
  method: "get",
  path: "/api/v1/triggers/recent",
  operationId: "listRecentTriggers",
  tags: ["stats"],
  summary: "Submissions of triggers that went through, newest first",
  description: "A submission whose condition is not met reverts, and leaves no trace on the chain.",
  request: { query: feedQuery({}).superRefine(refuseOffsetWithCursor) },
  responses: indexedResponses(
    "One page.",
    z.object({ ...pageFields, triggers: z.array(TriggerSubmission) }).openapi("TriggerFeed"),
    "validation_error",
  ),
});

const Burn = z
  .object({
    source: z
      .enum(burnSources)
      .openapi({ description: "The kind of burner; `direct` for a burn without one." }),
    burner: Address.openapi({ description: "Whose tokens were burned." }),
    tokenBurned: DecimalString.openapi({ description: "18 decimals.", example: "12500000000000000000" }),
    usdcSpent: DecimalString.openapi({
      description: "USDC, 6 decimals; 0 for a direct burn.",
      example: "52600000",
    }),
    effectivePrice: nullableDecimal(
      "USD per token, 18 decimals; null for a direct burn.",
      "100000000000000000",
    ),
    ...position,
  })
  .openapi("Burn");

export const burnsRoute = createRoute({
  method: "get",
  path: "/api/v1/burns/recent",
  operationId: "listRecentBurns",
  tags: ["stats"],
  summary: "Burned tokens, newest first",
  request: {
    query: feedQuery({
      source: z.enum(burnSources).optional().openapi({ description: "Burns of this kind alone." }),
    }).superRefine(refuseOffsetWithCursor),
  },
  responses: indexedResponses(
    "One page.",
    z.object({ ...pageFields, burns: z.array(Burn) }).openapi("BurnFeed"),
    "validation_error",
  ),
});
