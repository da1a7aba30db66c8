import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { rowIdInput } from "../http/field-types.ts";
import { ownList, ownListQuery, ownListResponses } from "../http/paging.ts";
import { createRoute } from "../http/route.ts";
import { deliveryCallbacks } from "./event-schemas.ts";
import { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookId } from "./schemas.ts";

export const webhookParams = z.object({ id: rowIdInput });

/** The failures of every route for one webhook. */
export const oneWebhookFailures = [
  "validation_error",
  "unauthenticated",
  "insufficient_scope",
  "webhook_not_found",
  "internal_error",
  "database_unavailable",
] as const;

export const createWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks",
  operationId: "createWebhook",
  tags: ["webhooks"],
  summary: "Create a webhook",
  description:
    "Sends the future events of the key's wallet to a URL, and at once a `webhook_challenge`: a receiver that echoes it makes the webhook `verified`. Each call creates another webhook with its own secret; a wallet has at most twenty.",
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: NewWebhook } } } },
  callbacks: deliveryCallbacks,
  responses: {
    201: {
      description: "Created: events of blocks after `fromBlock` will be sent.",
      content: { "application/json": { schema: CreatedWebhook } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
      "insufficient_scope",
      "forbidden",
      "cap_reached",
      "payload_too_large",
      "unsupported_media_type",
      "internal_error",
      "chain_not_found",
      "database_unavailable",
      "resolver_unavailable",
    ),
  },
});

export const listWebhooksRoute = createRoute({
  method: "get",
  path: "/api/v1/webhooks",
  operationId: "listWebhooks",
  tags: ["webhooks"],
  summary: "List webhooks",
  security: [{ apiKey: [] }],
  request: { query: ownListQuery },
  responses: ownListResponses(
    ownList("Webhooks", "Webhooks", { webhooks: z.array(Webhook) }).openapi("WebhookList"),
  ),
});

export const readWebhookRoute = createRoute({
  method: "get",
  path: "/api/v1/webhooks/{id}",
  operationId: "getWebhook",
  tags: ["webhooks"],
  summary: "Get a webhook",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "The webhook.",
      content: { "application/json": { schema: Webhook } },
    },
    ...failures(...oneWebhookFailures),
  },
});

export const deleteWebhookRoute = createRoute({
  method: "delete",
  path: "/api/v1/webhooks/{id}",
  operationId: "deleteWebhook",
  tags: ["webhooks"],
  summary: "Delete a webhook",
  description:
    "Deletes the webhook with its deliveries and secrets; a running attempt may still arrive. Deleting again is 404.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "Deleted: nothing more is sent.",
      content: {
        "application/json": {
          schema: z.object({ ok: z.literal(true), id: WebhookId }).openapi("DeletedWebhook"),
        },
      },
    },
    ...failures(...oneWebhookFailures),
  },
});

export const rotateSecretRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/rotate-secret",
  operationId: "rotateWebhookSecret",
  tags: ["webhooks"],
  summary: "Rotate a webhook's secret",
  description:
    "The new secret signs from now on. The previous secret signs too for 24 hours. Each call makes a new secret, and only the latest previous one still signs.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "The new secret.",
      content: { "application/json": { schema: RotatedSecret } },
    },
    ...failures(...oneWebhookFailures, "forbidden", "chain_not_found"),
  },
});
