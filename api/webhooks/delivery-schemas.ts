/** Schemas of deliveries. */
import { z } from "@hono/zod-openapi";
import { attemptOutcomes, type Attempt as Made } from "../../lib/webhooks/attempt.ts";
import { nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { allEventTypes } from "./event-schemas.ts";
import { type DeliveryRecord, deliveryStates } from "./store-deliveries.ts";

const Attempt = z
  .object({
    at: Timestamp.openapi({ description: "Start of the attempt." }),
    durationMs: z.int().openapi({ description: "Milliseconds.", example: 84 }),
    outcome: z.enum(attemptOutcomes).openapi({
      description:
        "`delivered`: a status of 2xx; `refused`: any other; `timeout`: no status within ten seconds; `connection_failed`: the connection failed or broke; `target_refused`: nothing was sent, because the URL leads to an address that is not allowed, or the webhook is not verified and its host or wallet has had its calls of the hour.",
    }),
    status: z
      .int()
      .nullable()
      .openapi({ description: "HTTP status of the response; null without one.", example: 200 }),
    error: z
      .string()
      .nullable()
      .openapi({ description: "Reason of the failure; null when delivered.", example: null }),
    response: z
      .string()
      .nullable()
      .openapi({ description: "First 2 kB of the response; null without one.", example: "ok" }),
  })
  .openapi("DeliveryAttempt");

export const DeliveryState = z.enum(deliveryStates).openapi({
  description:
    "`delivering`: in progress; `retry_scheduled`: the last attempt failed, the next is at `nextAttemptAt`; `delivered`; `undeliverable`: given up until the webhook is re-enabled; `cancelled`: a reorganisation removed the event before it was delivered.",
  example: "delivered",
});

export const Delivery = z
  .object({
    id: z.int().openapi({ description: "Id of the delivery.", example: 12 }),
    eventId: z
      .string()
      .openapi({ description: "The event's `id`.", example: "evt_2b9c40d7e1f58a6374c0d91be85f2a63" }),
    eventType: z.enum(allEventTypes).openapi({ example: "policy_purchased" }),
    state: DeliveryState,
    test: z.boolean().openapi({ description: "True for a test, which is attempted once.", example: false }),
    attempts: z.array(Attempt).openapi({ description: "Oldest first." }),
    nextAttemptAt: nullableTimestamp("Null unless `retry_scheduled`."),
    createdAt: Timestamp,
    deliveredAt: nullableTimestamp(
      "Time of the last successful attempt; null if never delivered.",
      "2026-01-01T00:00:00.000Z",
    ),
  })
  .openapi("Delivery");

/** The same delivery without its attempts, as a table row. */
export const FlatDelivery = z
  .object({
    id: z.int().openapi({ description: "Id of the delivery.", example: 12 }),
    eventId: Delivery.shape.eventId,
    event: Delivery.shape.eventType,
    status: DeliveryState,
    attempts: z.int().openapi({ description: "Number of attempts so far, counted up to 20.", example: 1 }),
    responseCode: z.int().nullable().openapi({
      description: "HTTP status of the last attempt's response; null without one.",
      example: 200,
    }),
    nextAttemptAt: Delivery.shape.nextAttemptAt,
    createdAt: Timestamp,
    deliveredAt: Delivery.shape.deliveredAt,
  })
  .openapi("FlatDelivery");

// Only the documented fields, in their order.
const attemptBody = ({
  at,
  durationMs,
  outcome,
  status,
  error,
  response,
}: Made): z.infer<typeof Attempt> => ({
  at,
  durationMs,
  outcome,
  status,
  error,
  response,
});

export function deliveryBody(delivery: DeliveryRecord): z.infer<typeof Delivery> {
  const { id, eventId, eventType, state, test, attempts, nextAttemptAt, createdAt, deliveredAt } = delivery;
  return {
    id,
    eventId,
    eventType,
    state,
    test,
    attempts: attempts.map(attemptBody),
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
    deliveredAt: deliveredAt?.toISOString() ?? null,
  };
}

export function flatDeliveryBody(delivery: DeliveryRecord): z.infer<typeof FlatDelivery> {
  const { id, eventId, eventType, state, attempts, nextAttemptAt, createdAt, deliveredAt } =
    deliveryBody(delivery);
  return {
    id,
    eventId,
    event: eventType,
    status: state,
    attempts: attempts.length,
    responseCode: attempts.at(-1)?.status ?? null,
    nextAttemptAt,
    createdAt,
    deliveredAt,
  };
}
