import { z } from "@hono/zod-openapi";
import { policyStatuses } from "../../lib/indexed/policy-status.ts";
import { addressInput, bytes32Input, unixSecondsInput } from "../http/field-types.ts";
import { feedQuery, pageFields, periodInput, refuseFeedQuery } from "../http/paging.ts";
import { productInput } from "../http/product-input.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { IndexedPolicy } from "./routes.ts";

/** A policy found by a search: with the distance as a percentage too. */
export const FoundPolicy = IndexedPolicy.extend({
  distanceToTriggerPercent: z
    .string()
    .regex(/^-?\d+\.\d{2}$/)
    .nullable()
    .openapi({
      description:
        "`distanceToTriggerBps` as a percentage of `currentPrice`, with 2 digits: how far the price has to fall. Null as that field.",
      example: "0.85",
    }),
}).openapi("FoundPolicy");

export const searchPoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/policies/all",
  operationId: "searchPolicies",
  tags: ["stats", "policies"],
  summary: "Search all policies",
  description:
    "All filters can be combined. A policy whose expiry the index does not know, because its product is older than the first indexed block, is found without the filters `status` and `expiresFrom` or `expiresTo` only, or once it is triggered.",
  request: {
    query: feedQuery({
      product: productInput
        .optional()
        .openapi({ description: "Only policies of this product: its name or its id." }),
      asset: bytes32Input.optional().openapi({
        description: "Only policies that cover this asset: its symbol as bytes32.",
        example: "0x4254430000000000000000000000000000000000000000000000000000000000",
      }),
      status: z
        .enum(policyStatuses)
        .optional()
        .openapi({ description: "Only policies with this status at the indexed block's time." }),
      buyer: addressInput.optional().openapi({ description: "Only policies of this buyer." }),
      from: periodInput.from.openapi({
        description: "Only policies bought from this time on, Unix seconds.",
      }),
      to: periodInput.to.openapi({
        description: "Only policies bought before this time, Unix seconds; later than `from`.",
      }),
      expiresFrom: unixSecondsInput
        .optional()
        .openapi({ description: "Only policies whose `expiresAt` is this time or later, Unix seconds." }),
      expiresTo: unixSecondsInput.optional().openapi({
        description: "Only policies whose `expiresAt` is earlier, Unix seconds; later than `expiresFrom`.",
        example: "1769904000",
      }),
    }).superRefine((query, context) => {
      refuseFeedQuery(query, context);
      const { expiresFrom, expiresTo } = query;
      if (expiresFrom !== undefined && expiresTo !== undefined && expiresTo <= expiresFrom) {
        context.addIssue({ code: "custom", path: ["expiresTo"], message: "must be later than expiresFrom" });
      }
    }),
  },
  responses: indexedResponses(
    "One page, the newest purchase first; statuses are those at the indexed block's time.",
    z.object({ ...pageFields, policies: z.array(FoundPolicy) }).openapi("PolicySearch"),
    "validation_error",
    "health_contracts_incomplete",
    "chain_not_found",
  ),
});
