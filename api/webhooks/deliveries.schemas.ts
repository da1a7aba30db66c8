/** Deliveries of events, as subscribers see them. */
import { z } from "@hono/zod-openapi";
import { attemptOutcomes, type Attempt as Made } from "../../lib/webhooks/attempt.ts";
import { nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { allEventTypes } from "./events.schemas.ts";
import { type DeliveryRecord, deliveryStates } from "./store-deliveries.ts";

const Attempt = z
  .object({
    at: Timestamp.openapi({ description: "When it began." }),
    durationMs: z.int().openapi({ description: "Milliseconds.", example: 84 }),
    outcome: z.enum(attemptOutcomes).openapi({
      description:
        "`delivered`: a status of 2xx; `refused`: any other; `timeout`: no status within ten seconds; `connection_failed`: no connection, or one that broke; `target_refused`: the address leads where no webhook may lead, and nothing was sent.",
    }),
    status: z
      .int()
      .nullable()
      .openapi({ description: "HTTP status of the answer; null when there was none.", example: 500 }),
    error: z
      .string()
      .nullable()
      .openapi({ description: "What went wrong; null when it was delivered.", example: null }),
    response: z
      .string()
      .nullable()
      .openapi({ description: "The first 2 kB of the answer; null when there was none.", example: "ok" }),
  })
  .openapi("DeliveryAttempt");

export const DeliveryState = z.enum(deliveryStates).openapi({
  description:
    "`delivering`: on its way; `retry_scheduled`: it failed, and `nextAttemptAt` says when it is tried again; `delivered`; `undeliverable`: given up, until the webhook is re-enabled; `cancelled`: a reorganisation took the event back before it had arrived.",
  example: "delivered",
});

export const Delivery = z
  .object({
    id: z.int().openapi({ description: "Number of the delivery.", example: 12 }),
    eventId: z.string().openapi({ description: "The event's `id`.", example: `evt_${"1f".repeat(16)}` }),
    eventType: z.enum(allEventTypes).openapi({ example: "policy_purchased" }),
    state: DeliveryState,
    test: z.boolean().openapi({ description: "Sent by `POST …/test`, once.", example: false }),
    attempts: z.array(Attempt).openapi({ description: "Oldest first." }),
    nextAttemptAt: nullableTimestamp("Null unless `retry_scheduled`."),
    createdAt: Timestamp,
    deliveredAt: nullableTimestamp("When it last arrived; null when it never did."),
  })
  .openapi("Delivery");

// In the order of the document, whatever the database kept.
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
