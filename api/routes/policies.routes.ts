import { createRoute, z } from "@hono/zod-openapi";
import {
  Address,
  addressInput,
  Bytes32,
  bytes32Input,
  DecimalString,
  integerInput,
  uint256Input,
} from "../schemas/basics.ts";
import { failures } from "../schemas/error.ts";
import { Policy } from "../schemas/policy.ts";

/** Names the block as of which an indexed answer is true. */
export const indexedBlockHeader = {
  "x-indexed-block": {
    description: "The indexed block as of which the answer is true.",
    schema: { type: "string" as const },
  },
};

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
}).openapi("IndexedPolicy");

export const policiesByBuyerRoute = createRoute({
  method: "get",
  path: "/api/v1/policies/by-buyer/{address}",
  operationId: "listPoliciesByBuyer",
  tags: ["stats", "policies"],
  summary: "A buyer's policies, newest first",
  request: {
    params: z.object({ address: addressInput }),
    query: z.object({
      limit: integerInput(1, 100, 50).openapi({ description: "The most policies that the answer may hold." }),
      offset: integerInput(0, 100_000_000, 0).openapi({ description: "Newer policies to pass over." }),
    }),
  },
  responses: {
    200: {
      description: "One page; statuses are those at the indexed block's time.",
      headers: indexedBlockHeader,
      content: {
        "application/json": {
          schema: z
            .object({
              buyer: Address,
              count: z.int().openapi({ description: "Policies in this answer.", example: 1 }),
              total: z.int().openapi({ description: "Policies of the buyer.", example: 1 }),
              limit: z.int().openapi({ example: 50 }),
              offset: z.int().openapi({ example: 0 }),
              policies: z.array(IndexedPolicy),
            })
            .openapi("PolicyList"),
        },
      },
    },
    ...failures(
      "validation_error",
      "internal_error",
      "health_contracts_incomplete",
      "database_unavailable",
      "indexer_syncing",
      "indexer_unavailable",
      "chain_not_found",
    ),
  },
});
