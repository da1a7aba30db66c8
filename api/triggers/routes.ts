import { z } from "@hono/zod-openapi";
import { Address, Bytes32, DecimalString, nullableAddress, nullableDecimal } from "../http/field-types.ts";
import { feedQuery, pageFields, refuseFeedQuery } from "../http/paging.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { eventPosition } from "../indexed/event-position.ts";

const TriggerSubmission = z
  .object({
    productId: Bytes32,
    productName: z
      .string()
      .nullable()
      .openapi({ description: "Null when unknown.", example: "FLASHBTC1H-001" }),
    policyId: DecimalString.openapi({ description: "Numbered per product.", example: "1" }),
    submitter: Address.openapi({
      description: "The account that called the router, or else the sender of the transaction.",
    }),
    buyer: nullableAddress(
      "The policy's buyer, who received the bond.",
      "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
    ),
    bondId: nullableDecimal("Epoch (YYYYMM) of the bond that paid the policy.", "202812"),
    bondAmount: nullableDecimal("Face value of that bond in whole dollars.", "800"),
    ...eventPosition,
  })
  .openapi("TriggerSubmission");

export const triggersRoute = createRoute({
  method: "get",
  path: "/api/v1/triggers/recent",
  operationId: "listRecentTriggers",
  tags: ["policies"],
  summary: "List recent triggers",
  description: "Policies that were paid, newest first, whoever made the observation that paid.",
  request: { query: feedQuery({}).superRefine(refuseFeedQuery) },
  responses: indexedResponses(
    "One page.",
    z.object({ ...pageFields, triggers: z.array(TriggerSubmission) }).openapi("TriggerFeed"),
    "validation_error",
  ),
});
