import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import {
  Address,
  addressInput,
  Bytes32,
  bytes32Input,
  DecimalString,
  uint256Input,
} from "../http/field-types.ts";
import { feedQuery, pageFields, refuseOffsetWithCursor } from "../http/paging.ts";
import { indexedBlockHeader, indexedResponses } from "../index/documented-responses.ts";
import { Policy } from "./schemas.ts";

export const policyRoute = createRoute({
  method: "get",
  path: "/policies/{productId}/{policyId}",
  operationId: "getPolicy",
  tags: ["policies"],
  summary: "One policy",
  description:
    "From the index, or from the contracts while the index does not have the policy yet, lags, or is down; `source` says which.",
  request: {
    params: z.object({
      productId: bytes32Input,
      policyId: uint256Input.openapi({ description: "Counts per product.", example: "1" }),
    }),
  },
  responses: {
    200: {
      description: "The policy.",
      headers: {
        ...indexedBlockHeader,
        "x-chain-block": {
          description: "The block, when the contracts were read.",
          schema: { type: "string" as const },
        },
      },
      content: { "application/json": { schema: Policy } },
    },
    ...failures(
      "validation_error",
      "policy_not_found",
      "internal_error",
      "health_contracts_incomplete",
      "chain_not_found",
    ),
  },
});

const IndexedPolicy = Policy.extend({
  txHash: Bytes32.openapi({ description: "The purchase's transaction." }),
  blockNumber: DecimalString.openapi({ description: "The purchase's block.", example: "1200" }),
  logIndex: z.int().openapi({ description: "Place of the purchase's log in its block.", example: 5 }),
}).openapi("IndexedPolicy");

export const policyPageQuery = feedQuery({}).superRefine(refuseOffsetWithCursor);

/** Policies of one buyer, out of the index and off the chain alike. */
export const PolicyList = z
  .object({
    buyer: Address,
    ...pageFields,
    total: z.int().openapi({ description: "Policies of the buyer.", example: 1 }),
    policies: z.array(IndexedPolicy),
  })
  .openapi("PolicyList");

export const policiesByBuyerRoute = createRoute({
  method: "get",
  path: "/api/v1/policies/by-buyer/{address}",
  operationId: "listPoliciesByBuyer",
  tags: ["stats", "policies"],
  summary: "A buyer's policies, newest first",
  request: { params: z.object({ address: addressInput }), query: policyPageQuery },
  responses: indexedResponses(
    "One page; statuses are those at the indexed block's time.",
    PolicyList,
    "validation_error",
    "health_contracts_incomplete",
    "chain_not_found",
  ),
});

export const ownPoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/policies",
  operationId: "listOwnPolicies",
  tags: ["policies"],
  summary: "The policies of the key's wallet, newest first",
  description: "Those that the wallet has bought, or that others have bought for it; whoever holds them now.",
  security: [{ apiKey: [] }],
  request: {
    query: feedQuery({
      owner: addressInput.optional().openapi({
        description: "The key's own wallet, which it is when left out; any other is 403.",
      }),
    }).superRefine(refuseOffsetWithCursor),
  },
  responses: {
    200: {
      description: "One page; statuses are those at the indexed block's time.",
      headers: indexedBlockHeader,
      content: { "application/json": { schema: PolicyList } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "forbidden",
      "internal_error",
      "health_contracts_incomplete",
      "chain_not_found",
      "database_unavailable",
      "indexer_syncing",
      "indexer_unavailable",
    ),
  },
});
