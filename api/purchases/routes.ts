import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { idempotencyKeyInput } from "../http/idempotency-key.ts";
import { Purchase, PurchaseReceipt, PurchaseRequest } from "./schemas.ts";

const location = {
  Location: { description: "Where the purchase can be read.", schema: { type: "string" as const } },
};

export const purchaseRoute = createRoute({
  method: "post",
  path: "/api/v1/policies",
  operationId: "buyPolicy",
  tags: ["policies"],
  summary: "Buy a policy",
  description:
    "The relayer submits the transaction and pays the gas; the buyer pays the premium. Send an `Idempotency-Key`: the same key and body answer the same receipt and never spend twice. Without one, a call that is identical to one whose outcome nobody has been told joins it.",
  security: [{ apiKey: [] }],
  request: {
    headers: z.object({
      "Idempotency-Key": idempotencyKeyInput.optional().openapi({
        description: "Counts per wallet, 128 characters at most; a UUIDv4 is recommended.",
        example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11",
      }),
      Prefer: z.string().optional().openapi({
        description:
          "`respond-async` (RFC 7240): a purchase that is still on its way is answered at once, with 202 and its address.",
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
      description:
        "On its way; only with `Prefer: respond-async`. `Location` says where to look for the outcome.",
      headers: {
        ...location,
        "Preference-Applied": {
          description: "The preference that was followed.",
          schema: { type: "string", enum: ["respond-async"] },
        },
      },
      content: { "application/json": { schema: Purchase } },
    },
    ...failures(
      "validation_error",
      "unknown_product",
      "unauthenticated",
      "buyer_not_authorized",
      "not_authorized_relayer",
      "invalid_product",
      "idempotency_conflict",
      "payload_too_large",
      "unsupported_media_type",
      "product_inactive",
      "shield_paused",
      "coverage_below_minimum",
      "coverage_above_maximum",
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
  summary: "What became of a purchase",
  description: "For the keys of the wallet that made it; 404 for everybody else.",
  security: [{ apiKey: [] }],
  request: {
    params: z.object({
      id: z
        .string()
        .regex(/^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/, "must be a UUID")
        .openapi({ example: "5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11" }),
    }),
  },
  responses: {
    200: { description: "The purchase as it stands.", content: { "application/json": { schema: Purchase } } },
    ...failures("validation_error", "unauthenticated", "not_found", "internal_error", "database_unavailable"),
  },
});
