import { z } from "@hono/zod-openapi";
import { scanDescription, scanResponses, walletParam } from "../chain/documented-responses.ts";
import { Policy, policyParams } from "../chain/policy-schemas.ts";
import { failures } from "../http/error-envelope.ts";
import { Address, addressInput, DecimalString, TxHash } from "../http/field-types.ts";
import {
  feedQuery,
  limitInput,
  offsetInput,
  pageFields,
  positionCursor,
  refuseFeedQuery,
  refuseOffsetWithCursor,
} from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { indexedBlockHeader, indexedResponses } from "../indexed/documented-responses.ts";

export const policyRoute = createRoute({
  method: "get",
  path: "/policies/{productId}/{policyId}",
  operationId: "getPolicy",
  tags: ["policies"],
  summary: "Get a policy",
  description:
    "From the index, or from the contracts while the index lacks the policy, lags, or is down; `source` says which.",
  request: { params: policyParams },
  responses: {
    200: {
      description: "The policy.",
      headers: {
        ...indexedBlockHeader,
        "x-chain-block": {
          description: "The block, if the contracts were read.",
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

/** The same resource under the prefix of most other paths. */
export const prefixedPolicyRoute = createRoute({
  ...policyRoute,
  path: "/api/v1/policies/{productId}/{policyId}",
  operationId: "getPolicyV1",
  description: "The same as `GET /policies/{productId}/{policyId}`.",
});

export const IndexedPolicy = Policy.extend({
  txHash: TxHash.openapi({ description: "The purchase's transaction." }),
  blockNumber: DecimalString.openapi({ description: "The purchase's block.", example: "1200" }),
  logIndex: z.int().openapi({ description: "Place of the purchase's log in its block.", example: 5 }),
}).openapi("IndexedPolicy");

/** The policies of one buyer, from the index or the chain. */
const PolicyList = z
  .object({
    buyer: Address,
    ...pageFields,
    total: z.int().openapi({ description: "All policies of the buyer, also of other times.", example: 1 }),
    policies: z.array(IndexedPolicy),
  })
  .openapi("PolicyList");
export type PolicyListBody = z.infer<typeof PolicyList>;

export const policiesByBuyerRoute = createRoute({
  method: "get",
  path: "/api/v1/policies/by-buyer/{address}",
  operationId: "listPoliciesByBuyer",
  tags: ["stats", "policies"],
  summary: "List a buyer's policies",
  request: {
    params: z.object({ address: addressInput }),
    query: feedQuery({}).superRefine(refuseFeedQuery),
  },
  responses: indexedResponses(
    "One page, newest first; statuses are those at the indexed block's time.",
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
  summary: "List the policies of the key's wallet",
  description: "Policies that the wallet bought, or that others bought for it.",
  security: [{ apiKey: [] }],
  request: {
    query: feedQuery({
      owner: addressInput.optional().openapi({
        description: "The key's own wallet, which is the default; any other is 403.",
      }),
    }).superRefine(refuseFeedQuery),
  },
  responses: {
    200: {
      description: "One page, newest first; statuses are those at the indexed block's time.",
      headers: indexedBlockHeader,
      content: { "application/json": { schema: PolicyList } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
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

export const livePoliciesRoute = createRoute({
  method: "get",
  path: "/api/v1/public/policies/{wallet}",
  operationId: "scanPolicies",
  tags: ["policies"],
  summary: "List a buyer's policies by a live scan of the chain",
  description: scanDescription,
  request: {
    params: walletParam,
    query: requestObject({ limit: limitInput(), offset: offsetInput, cursor: positionCursor }).superRefine(
      refuseOffsetWithCursor,
    ),
  },
  responses: scanResponses(
    "One page, newest first; statuses are those at the block's time, and `source` is `chain`.",
    PolicyList,
  ),
});
