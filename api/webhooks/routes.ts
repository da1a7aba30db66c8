import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { ownPageResponses } from "../http/own-page.ts";
import { ownPage, ownPageQuery } from "../http/paging.ts";
import { rowIdInput } from "../keys/schemas.ts";
import { deliveryCallbacks } from "./events.schemas.ts";
import { CreatedWebhook, NewWebhook, RotatedSecret, Webhook, WebhookId } from "./schemas.ts";

export const webhookParams = z.object({ id: rowIdInput });

/** What each answer about one webhook can be instead. */
export const oneWebhookFailures = [
  "validation_error",
  "unauthenticated",
  "webhook_not_found",
  "internal_error",
  "database_unavailable",
] as const;

export const createWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks",
  operationId: "createWebhook",
  tags: ["webhooks"],
  summary: "Have events of the key's wallet sent to an address",
  description:
    "Sends what happens from now on. Twenty webhooks a wallet at most. Each call makes another one, with a secret of its own.",
  security: [{ apiKey: [] }],
  request: { body: { required: true, content: { "application/json": { schema: NewWebhook } } } },
  callbacks: deliveryCallbacks,
  responses: {
    201: {
      description: "The events of blocks after `fromBlock` will be sent.",
      content: { "application/json": { schema: CreatedWebhook } },
    },
    ...failures(
      "validation_error",
      "unauthenticated",
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
  summary: "The webhooks of the key's wallet, newest first",
  security: [{ apiKey: [] }],
  request: { query: ownPageQuery },
  responses: ownPageResponses(
    ownPage("Webhooks", "Webhooks", { webhooks: z.array(Webhook) }).openapi("WebhookList"),
  ),
});

export const readWebhookRoute = createRoute({
  method: "get",
  path: "/api/v1/webhooks/{id}",
  operationId: "getWebhook",
  tags: ["webhooks"],
  summary: "One webhook",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "The webhook as it stands.",
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
    "It is gone at once, with its deliveries and its secrets; what is under way just now may still arrive. Deleting again is 404.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "Nothing more is sent to it.",
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
  summary: "Give a webhook a new secret",
  description:
    "From now on the new secret signs, and for 24 hours the former one beside it. Each call makes another; after two of them within a day, the secret from before both signs no more.",
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
