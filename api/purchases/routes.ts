import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { uuidInput } from "../http/field-types.ts";
import { idempotencyKeyInput } from "../http/idempotency-key.ts";
import { createRoute } from "../http/route.ts";
import { Purchase, PurchaseReceipt, PurchaseRequest } from "./schemas.ts";

const location = {
  Location: { description: "URL of the purchase.", schema: { type: "string" as const } },
};

export const purchaseRoute = createRoute({
  method: "post",
  path: "/api/v1/policies",
  operationId: "buyPolicy",
  tags: ["policies"],
  summary: "Buy a policy",
  description:
    "The relayer submits the transaction and pays the gas; the buyer pays the premium. Send an `Idempotency-Key`: the same key and body return the same receipt and never spend twice. Without a key, a call joins an identical earlier call if no caller has received its outcome.",
  security: [{ apiKey: [] }],
  request: {
    headers: z.object({
      "Idempotency-Key": idempotencyKeyInput.optional().openapi({
        description:
          "Valid per wallet, at most 128 characters; a UUIDv4 is recommended. Required with `Prefer: respond-async`.",
        example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11",
      }),
      Prefer: z.string().optional().openapi({
        description:
          "`respond-async` (RFC 7240): do not wait for the transaction. The response is 202 with the purchase's URL if the purchase is still in progress. Needs an `Idempotency-Key`; 400 without one.",
        example: "respond-async",
      }),
    }),
    body: { required: true, content: { "application/json": { schema: PurchaseRequest } } },
  },
  responses: {
    201: {
      description: "Bought: the receipt of the mined transaction.",
      headers: location,
      content: { "application/json": { schema: PurchaseReceipt } },
    },
    200: {
      description: "The same purchase, made by an earlier call; nothing was spent again.",
      headers: location,
      content: { "application/json": { schema: PurchaseReceipt } },
    },
    202: {
      description: "In progress; only with `Prefer: respond-async`. Get the outcome from `Location`.",
      headers: {
        ...location,
        "Preference-Applied": {
          description: "The preference that was applied.",
          schema: { type: "string", enum: ["respond-async"] },
        },
      },
      content: { "application/json": { schema: Purchase } },
    },
    ...failures(
      "validation_error",
      "unknown_product",
      "unauthenticated",
      "insufficient_scope",
      "buyer_not_authorized",
      "key_purchase_cap_exceeded",
      "product_not_allowed",
      "not_authorized_relayer",
      "invalid_product",
      "idempotency_conflict",
      "permit_in_flight",
      "payload_too_large",
      "unsupported_media_type",
      "product_inactive",
      "shield_paused",
      "coverage_below_minimum",
      "coverage_above_maximum",
      "invalid_permit",
      "premium_above_maximum",
      "price_mismatch",
      "key_daily_cap_reached",
      "gas_budget_exceeded",
      "purchases_paused",
      "internal_error",
      "health_contracts_incomplete",
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
      "sequencer_down",
    ),
  },
});

export const readPurchaseRoute = createRoute({
  method: "get",
  path: "/api/v1/purchases/{id}",
  operationId: "getPurchase",
  tags: ["policies"],
  summary: "Get a purchase",
  description:
    "For keys of the wallet that made the purchase; 404 for others. Reads are counted apart from the key's other requests: 120 a minute. A purchase that was refused before it was ever signed is deleted after a time, 30 days by default; then 404 too.",
  security: [{ apiKey: [] }],
  request: {
    params: z.object({ id: uuidInput.openapi({ example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11" }) }),
  },
  responses: {
    200: { description: "The purchase.", content: { "application/json": { schema: Purchase } } },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
      "not_found",
      "internal_error",
      "database_unavailable",
    ),
  },
});
