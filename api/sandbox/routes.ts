import { z } from "@hono/zod-openapi";
import { Policy, policyParams } from "../chain/policy-schemas.ts";
import { failures } from "../http/error-envelope.ts";
import { bytes32Input } from "../http/field-types.ts";
import { idempotencyKeyInput } from "../http/idempotency-key.ts";
import { createRoute } from "../http/route.ts";
import { SandboxInfo, SandboxPurchase, SandboxRequest, SandboxTransaction } from "./schemas.ts";

export const sandboxInfoRoute = createRoute({
  method: "get",
  path: "/sandbox/info",
  operationId: "getSandbox",
  tags: ["sandbox"],
  summary: "Get the sandbox's status",
  responses: {
    200: {
      description: "The status; `enabled` is false if there is no sandbox.",
      content: { "application/json": { schema: SandboxInfo } },
    },
    ...failures("internal_error", "database_unavailable"),
  },
});

const { 503: unavailable, ...refused } = failures(
  "validation_error",
  "unknown_product",
  "not_authorized_relayer",
  "sandbox_cap_exceeded",
  "invalid_product",
  "idempotency_conflict",
  "payload_too_large",
  "unsupported_media_type",
  "product_inactive",
  "shield_paused",
  "coverage_above_maximum",
  "price_mismatch",
  "gas_budget_exceeded",
  "internal_error",
  "onchain_revert",
  "chain_not_found",
  "contract_paused",
  "database_unavailable",
  "oracle_stale",
  "purchase_expired",
  "purchase_pending",
  "purchases_stopped",
  "relayer_unauthorized",
  "relayer_unavailable",
  "sandbox_disabled",
  "sandbox_unready",
  "sequencer_down",
);

const keyHeader = {
  "Idempotency-Key": {
    description:
      "The key of the purchase, from the request or generated. A call with this key returns the same purchase.",
    schema: { type: "string" as const },
  },
};

export const sandboxTryRoute = createRoute({
  method: "post",
  path: "/sandbox/try",
  operationId: "trySandbox",
  tags: ["sandbox"],
  summary: "Buy a policy on the testnet",
  description:
    "Needs neither key nor wallet: the shared wallet of `GET /sandbox/info` pays with worthless test money. The body is optional. A client address may call 10 times an hour. A call with the `Idempotency-Key` of an earlier one returns the same policy. Such calls, invalid calls, and calls while the wallet cannot buy do not count; a purchase that is refused later does. An `Idempotency-Key` is valid for its client address only.",
  request: {
    headers: z.object({
      "Idempotency-Key": idempotencyKeyInput.optional().openapi({
        description:
          "At most 128 characters; a UUIDv4 is recommended. Without one each call buys another policy.",
        example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11",
      }),
    }),
    body: { required: false, content: { "application/json": { schema: SandboxRequest } } },
  },
  responses: {
    200: {
      description: "Bought: the transaction is mined on the testnet.",
      headers: keyHeader,
      content: { "application/json": { schema: SandboxPurchase } },
    },
    ...refused,
    503: {
      ...unavailable,
      headers: {
        ...unavailable?.headers,
        "Idempotency-Key": {
          description: "With `purchase_pending`: repeat the call with this header to get its outcome.",
          schema: { type: "string" as const },
        },
      },
    },
  },
});

export const sandboxTransactionRoute = createRoute({
  method: "get",
  path: "/sandbox/transactions/{txHash}",
  operationId: "getSandboxTransaction",
  tags: ["sandbox"],
  summary: "Get a testnet transaction",
  description: "Includes the policies that the transaction bought. For testnets without a block explorer.",
  request: { params: z.object({ txHash: bytes32Input }) },
  responses: {
    200: {
      description: "The mined transaction.",
      content: { "application/json": { schema: SandboxTransaction } },
    },
    ...failures("validation_error", "not_found", "internal_error", "chain_not_found", "sandbox_disabled"),
  },
});

export const sandboxPolicyRoute = createRoute({
  method: "get",
  path: "/sandbox/policies/{productId}/{policyId}",
  operationId: "getSandboxPolicy",
  tags: ["sandbox"],
  summary: "Get a policy of the testnet",
  description:
    "From the testnet's contracts. `GET /policies/{productId}/{policyId}` reads the main chain, where the same ids are another policy.",
  request: { params: policyParams },
  responses: {
    200: {
      description: "The policy.",
      headers: {
        "x-chain-block": { description: "The testnet's block.", schema: { type: "string" as const } },
      },
      content: { "application/json": { schema: Policy } },
    },
    ...failures(
      "validation_error",
      "policy_not_found",
      "internal_error",
      "chain_not_found",
      "sandbox_disabled",
    ),
  },
});
