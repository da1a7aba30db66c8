import { createRoute, z } from "@hono/zod-openapi";
import { getAddress } from "viem";
import { attemptOutcomes } from "../../lib/webhooks/attempt.ts";
import { Address, nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { cursorField, limitInput, rowCursor } from "../http/paging.ts";
import { count, operatorResponses, operatorRoute, pageLimit } from "./responses.ts";
import { COUNTED, type WaitingWebhook } from "./webhook-queries.ts";

const OperatorWebhook = z
  .object({
    id: z.int().openapi({ description: "Id of the webhook.", example: 1 }),
    wallet: Address,
    host: z.string().openapi({
      description: "Host of its address, with the port if it has one. The rest may be a secret.",
      example: "example.com",
    }),
    disabled: z.boolean().openapi({
      description:
        "Whether it is undeliverable: nothing is sent until its owner calls `POST /api/v1/webhooks/{id}/retry`.",
      example: false,
    }),
    disabledSince: nullableTimestamp("Null while it is active."),
    failuresInARow: z.int().openapi({
      description: "Failed attempts in a row for one of its oldest undelivered events: the most of them.",
      example: 3,
    }),
    pending: z.int().openapi({
      description: `Events that it has not received, counted up to ${COUNTED}.`,
      example: 12,
    }),
    oldestPendingAt: nullableTimestamp(
      "When the oldest of them was recorded; null when none is kept any more.",
      "2026-01-01T00:00:00.000Z",
    ),
    nextAttemptAt: nullableTimestamp("Null while it is disabled.", "2026-01-01T00:05:00.000Z"),
    lastAttempt: z
      .object({
        at: Timestamp,
        outcome: z.enum(attemptOutcomes).openapi({ example: "refused" }),
        status: z
          .int()
          .nullable()
          .openapi({ description: "HTTP status; null without a response.", example: 500 }),
      })
      .nullable()
      .openapi({ description: "The last attempt for the event with most failures; null before it." }),
  })
  .openapi("OperatorWebhook");

export const listWaitingWebhooksRoute = createRoute({
  ...operatorRoute,
  method: "get",
  path: "/api/v1/admin/webhooks",
  operationId: "listWaitingWebhooks",
  summary: "List webhooks that wait",
  description:
    "Webhooks of all wallets that are undeliverable, or have events that are not delivered yet, by id. Deliveries under way are among them.",
  request: { query: z.object({ limit: limitInput(), cursor: rowCursor }) },
  responses: operatorResponses(
    "One page.",
    z
      .object({ count, limit: pageLimit, nextCursor: cursorField, webhooks: z.array(OperatorWebhook) })
      .openapi("OperatorWebhookList"),
    "validation_error",
  ),
});

export function operatorWebhookBody(webhook: WaitingWebhook): z.infer<typeof OperatorWebhook> {
  const { id, wallet, url, state, undeliverableAt, failures, pending, oldestAt, nextAttemptAt } = webhook;
  const last = webhook.lastAttempt;
  return {
    id,
    wallet: getAddress(wallet),
    host: new URL(url).host,
    disabled: state === "undeliverable",
    disabledSince: undeliverableAt?.toISOString() ?? null,
    failuresInARow: failures,
    pending,
    oldestPendingAt: oldestAt?.toISOString() ?? null,
    nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    lastAttempt: last && { at: last.at, outcome: last.outcome, status: last.status },
  };
}
