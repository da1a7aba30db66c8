import { z } from "@hono/zod-openapi";
import { bytes32Input } from "../http/field-types.ts";
import { limitInput, offsetInput } from "../http/paging.ts";
import { productInput } from "../http/product-input.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedResponses } from "../indexed/documented-responses.ts";
import { FoundPolicy } from "./search-routes.ts";

export const nearestPoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/policies/nearest",
  operationId: "listNearestPolicies",
  tags: ["stats", "policies"],
  summary: "List the active policies nearest to their trigger",
  description:
    "Of all active policies those whose price has to fall least, in proportion to it, at the front; then those that expire first. A policy whose price is at or below its trigger has a distance of zero or less. Each round of a feed changes the order, so pages have an offset and no cursor. Policies with an unknown trigger price are left out.",
  request: {
    query: requestObject({
      product: productInput
        .optional()
        .openapi({ description: "Only policies of this product: its name or its id." }),
      asset: bytes32Input.optional().openapi({
        description: "Only policies that cover this asset: its symbol as bytes32.",
        example: "0x4254430000000000000000000000000000000000000000000000000000000000",
      }),
      limit: limitInput(),
      offset: offsetInput,
    }),
  },
  responses: indexedResponses(
    "One page, the nearest first.",
    z
      .object({
        count: z.int().openapi({ description: "Policies in this response.", example: 1 }),
        total: z.int().openapi({ description: "All active policies with a known distance.", example: 1 }),
        limit: z.int().openapi({ example: 50 }),
        offset: z.int().openapi({ example: 0 }),
        policies: z.array(FoundPolicy),
      })
      .openapi("NearestPolicies"),
    "validation_error",
    "health_contracts_incomplete",
    "chain_not_found",
  ),
});
