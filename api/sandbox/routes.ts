import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { bytes32Input } from "../http/field-types.ts";
import { idempotencyKeyInput } from "../http/idempotency-key.ts";
import { SandboxInfo, SandboxPurchase, SandboxRequest, SandboxTransaction } from "./schemas.ts";

export const sandboxInfoRoute = createRoute({
  method: "get",
  path: "/sandbox/info",
  operationId: "getSandbox",
  tags: ["sandbox"],
  summary: "What the sandbox buys, and whether it can now",
  responses: {
    200: {
      description: "Also where there is no sandbox: then `enabled` is false.",
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
    description: "The key of this purchase, as it was sent or made: a repetition with it answers the same.",
    schema: { type: "string" as const },
  },
};

export const sandboxTryRoute = createRoute({
  method: "post",
  path: "/sandbox/try",
  operationId: "trySandbox",
  tags: ["sandbox"],
  summary: "Buy a policy on the testnet, for nothing",
  description:
    "Without a key or a wallet: the shared wallet of `GET /sandbox/info` buys, and nothing in it is worth anything. The body may be empty, or missing. A client address has 10 calls an hour; what is refused before anything is bought does not count, nor does a repetition under the same `Idempotency-Key`, which answers the same policy. A key counts for the client address that sent it alone.",
  request: {
    headers: z.object({
      "Idempotency-Key": idempotencyKeyInput.optional().openapi({
        description:
          "128 characters at most; a UUIDv4 is recommended. Without one each call buys a policy of its own.",
        example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11",
      }),
    }),
    body: { required: false, content: { "application/json": { schema: SandboxRequest } } },
  },
  responses: {
    200: {
      description: "Bought: the transaction is in a block of the testnet.",
      headers: keyHeader,
      content: { "application/json": { schema: SandboxPurchase } },
    },
    ...refused,
    503: {
      ...unavailable,
      headers: {
        "Retry-After": {
          description: "Seconds to wait before the next try.",
          schema: { type: "integer" as const, minimum: 0 },
        },
        "Idempotency-Key": {
          description: "With `purchase_pending`: the same call with this header, later, tells the outcome.",
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
  summary: "A transaction of the testnet, with the policies that it bought",
  description: "For chains that have no explorer; whoever sent the transaction.",
  request: { params: z.object({ txHash: bytes32Input }) },
  responses: {
    200: {
      description: "The transaction, which is in a block.",
      content: { "application/json": { schema: SandboxTransaction } },
    },
    ...failures("validation_error", "not_found", "internal_error", "chain_not_found", "sandbox_disabled"),
  },
});
