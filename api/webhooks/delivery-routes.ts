import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { rowIdInput } from "../http/field-types.ts";
import { limitInput, offsetInput, pageFields, refuseOffsetWithCursor, rowCursor } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { Delivery, DeliveryState, FlatDelivery } from "./delivery-schemas.ts";
import { oneWebhookFailures, webhookParams } from "./routes.ts";
import { WebhookId } from "./schemas.ts";
import { REPLAY_DAYS } from "./store-replays.ts";

const DAY_MS = 86_400_000;
/** Tolerance for a time that the client computed a moment ago, in ms. */
const SLACK_MS = 60_000;

const since = z
  .string({ error: "must be given: Unix seconds" })
  .regex(/^\d{1,12}$/, "must be Unix seconds in decimal digits")
  .transform((text) => new Date(Number(text) * 1000))
  .refine((time) => time.getTime() <= Date.now() + SLACK_MS, "must not be in the future")
  .refine(
    (time) => time.getTime() >= Date.now() - REPLAY_DAYS * DAY_MS - SLACK_MS,
    `must be within the last ${REPLAY_DAYS} days`,
  )
  .openapi({
    description: `Start of the events, Unix seconds, within the last ${REPLAY_DAYS} days.`,
    example: "1767225600",
  });

const scheduled = z.int().openapi({
  description: "Scheduled deliveries, including running ones, which continue.",
  example: 3,
});
const Scheduled = z.object({ ok: z.literal(true), id: WebhookId, scheduled }).openapi("ScheduledDeliveries");

export const retryWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/retry",
  operationId: "retryWebhook",
  tags: ["webhooks"],
  summary: "Re-enable a webhook",
  description: `Makes an undeliverable webhook active and sends everything that it missed within ${REPLAY_DAYS} days. Idempotent: an active webhook does not change.`,
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: { description: "The webhook is active.", content: { "application/json": { schema: Scheduled } } },
    ...failures(...oneWebhookFailures),
  },
});

export const testWebhookRoute = createRoute({
  method: "post",
  path: "/api/v1/webhooks/{id}/test",
  operationId: "testWebhook",
  tags: ["webhooks"],
  summary: "Test a webhook",
  description:
    "Makes one attempt to deliver a `webhook_test` now, and returns its outcome. An answer that echoes its `challenge` makes the webhook `verified`. Works for an undeliverable webhook too, without re-enabling it.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams },
  responses: {
    200: {
      description: "The attempt was made; `delivered` says whether it succeeded.",
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
  summary: "List deliveries",
  description: "Newest event first. Deliveries are kept for 30 days, undelivered ones for longer.",
  security: [{ apiKey: [] }],
  request: {
    params: webhookParams,
    query: requestObject({
      state: DeliveryState.optional().openapi({ description: "Only deliveries in this state." }),
      view: z.enum(["full", "flat"]).default("full").openapi({
        description:
          "`flat` shows each delivery as one row: `event`, `status`, the number of `attempts` and the last `responseCode`, in place of `eventType`, `state` and the attempts.",
        example: "full",
      }),
      limit: limitInput(),
      offset: offsetInput,
      cursor: rowCursor,
    }).superRefine(refuseOffsetWithCursor),
  },
  responses: {
    200: {
      description: "One page.",
      content: {
        "application/json": {
          schema: z
            .object({ ...pageFields, deliveries: z.array(z.union([Delivery, FlatDelivery])) })
            .openapi("DeliveryList"),
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
  summary: "Replay a delivery",
  description:
    "Sends the delivery's event again with the same id, and restarts the retry schedule. A running attempt continues. A wallet may ask for five replays a day to webhooks that are not verified.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams.extend({ deliveryId: rowIdInput }) },
  responses: {
    202: {
      description: "The event will be sent.",
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
  summary: "Replay events since a time",
  description:
    "Sends all events since `since` again in chain order, delivered ones too, but none from before the webhook's creation and none that a reorganisation removed. The calls of one wallet run one at a time; a call that waits too long is 503 and can be repeated. A wallet may ask for five replays a day to webhooks that are not verified.",
  security: [{ apiKey: [] }],
  request: { params: webhookParams, query: requestObject({ since }) },
  responses: {
    202: {
      description: "The events will be sent.",
      content: { "application/json": { schema: Scheduled } },
    },
    ...failures(...oneWebhookFailures, "webhook_undeliverable"),
  },
});
