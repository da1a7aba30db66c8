import { createRoute, z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { limitInput, offsetInput, pageFields, refuseOffsetWithCursor, rowCursor } from "../http/paging.ts";
import { rowIdInput } from "../keys/schemas.ts";
import { Delivery, DeliveryState } from "./deliveries.schemas.ts";
import { oneWebhookFailures, webhookParams } from "./routes.ts";
import { WebhookId } from "./schemas.ts";
import { REPLAY_DAYS } from "./store-replays.ts";

const DAY_MS = 86_400_000;
/** For a time that its client has computed a moment ago, in ms. */
const SLACK_MS = 60_000;

const since = z
  .string({ error: "must be given: Unix seconds" })
  .regex(/^\d{1,12}$/, "must be Unix seconds in decimal digits")
  .transform((text) => new Date(Number(text) * 1000))
  .refine((time) => time.getTime() <= Date.now() + SLACK_MS, "must not lie in the future")
  .refine(
    (time) => time.getTime() >= Date.now() - REPLAY_DAYS * DAY_MS - SLACK_MS,
    `must not lie more than ${REPLAY_DAYS} days back`,
  )
  .openapi({
    description: `Events that the service has seen since then, Unix seconds; ${REPLAY_DAYS} days back at most.`,
    example: "1767225600",
  });

const scheduled = z.int().openapi({
  description: "Deliveries that will be made; those under way just now count too, and go on as they are.",
  example: 3,
});
const Scheduled = z.object({ ok: z.literal(true), id: WebhookId, scheduled }).openapi("ScheduledDeliveries");

export const retryWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/retry",
  operationId: "retryWebhook",
  tags: ["webhooks"],
  summary: "Re-enable an undeliverable webhook",
  description: `Everything that it has missed is sent, up to ${REPLAY_DAYS} days back. Idempotent: an active webhook stays as it is, and nothing is scheduled.`,
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: { description: "It is active.", content: { "application/json": { schema: Scheduled } } },
    ...failures(...oneWebhookFailures),
  },
});

export const testWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/test",
  operationId: "testWebhook",
  tags: ["webhooks"],
  summary: "Send a signed sample now",
  description:
    "One attempt to deliver a `webhook_test`, whose outcome is in the answer; also for an undeliverable webhook, which it leaves as it is.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "The call was made; `delivered` says whether it went well.",
      content: {
        "application/json": {
          schema: z
            .object({
              ok: z.literal(true),
              id: WebhookId,
              delivered: z.boolean().openapi({ example: true }),
              delivery: Delivery,
            })
            .openapi("TestedWebhook"),
        },
      },
    },
    ...failures(...oneWebhookFailures, "test_pending"),
  },
});

export const listDeliveriesRoute = createRoute({
  method: "get",
  path: "/api/v1/webhooks/{id}/deliveries",
  operationId: "listDeliveries",
  tags: ["webhooks"],
  summary: "What was sent to a webhook and what became of it, newest event first",
  description: "Kept for 30 days, and for as long as they are not delivered.",
  security: [{ apiKey: [] }],
  request: {
    params: webhookParams,
    query: z
      .object({
        state: DeliveryState.optional().openapi({ description: "Those in this state alone." }),
        limit: limitInput(),
        offset: offsetInput,
        cursor: rowCursor,
      })
      .superRefine(refuseOffsetWithCursor),
  },
  responses: {
    200: {
      description: "One page.",
      content: {
        "application/json": {
          schema: z.object({ ...pageFields, deliveries: z.array(Delivery) }).openapi("DeliveryList"),
        },
      },
    },
    ...failures(...oneWebhookFailures),
  },
});

export const replayDeliveryRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/deliveries/{deliveryId}/replay",
  operationId: "replayDelivery",
  tags: ["webhooks"],
  summary: "Send an event once more",
  description:
    "With the same id, and from the beginning of the schedule if it fails. One that is under way just now goes on.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams.extend({ deliveryId: rowIdInput }) },
  responses: {
    202: {
      description: "It will be sent.",
      content: {
        "application/json": {
          schema: z
            .object({ ok: z.literal(true), id: WebhookId, delivery: Delivery })
            .openapi("ReplayedDelivery"),
        },
      },
    },
    ...failures(...oneWebhookFailures, "delivery_not_found", "event_reverted", "webhook_undeliverable"),
  },
});

export const replayEventsRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/replay",
  operationId: "replayEvents",
  tags: ["webhooks"],
  summary: "Send all of a webhook's events since a time once more",
  description:
    "Those that were delivered too, in the order in which they happened; not those from before the webhook's creation, nor those that a reorganisation took back. Calls of one wallet take turns: one that waits for too long is 503, and may be made again.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams, query: z.object({ since }) },
  responses: {
    202: {
      description: "They will be sent.",
      content: { "application/json": { schema: Scheduled } },
    },
    ...failures(...oneWebhookFailures, "webhook_undeliverable"),
  },
});
