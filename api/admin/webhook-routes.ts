import { z } from "@hono/zod-openapi";
import type { WebhookFigures } from "../../lib/webhooks/figures.ts";
import { Address, nullableDecimal, nullableTimestamp } from "../http/field-types.ts";
import { cursorField, cutPage, limitInput, pageFields, rowCursor } from "../http/paging.ts";
import { requestObject } from "../http/request-object.ts";
import { createRoute } from "../http/route.ts";
import { adminOnly, adminPage } from "./failures.ts";
import { type LateWebhook, MOST_COUNTED } from "./webhook-queries.ts";

const Late = z
  .object({
    id: z.int().openapi({ description: "Id of the webhook.", example: 1 }),
    chainId: z.int().openapi({ example: 8453 }),
    wallet: Address,
    host: z.string().openapi({
      description:
        "Host of the webhook's URL, and its port if that is not 443. The rest is the subscriber's.",
      example: "example.com",
    }),
    state: z.enum(["active", "undeliverable"]).openapi({
      description: "`undeliverable`: nothing is sent until its owner calls `POST …/retry`.",
    }),
    undeliverableSince: nullableTimestamp("Null while active."),
    undelivered: z.int().openapi({
      description: `Deliveries that were not made; ${MOST_COUNTED} stands for any number from there on.`,
      example: 3,
    }),
    failures: z.int().nullable().openapi({
      description: "Failed attempts of the oldest of them; null when there is none.",
      example: 2,
    }),
    oldestPendingAt: nullableTimestamp(
      "When the oldest of them was created; null when there is none.",
      "2026-01-01T00:00:00.000Z",
    ),
    nextAttemptAt: nullableTimestamp("When it is tried next; null while undeliverable."),
  })
  .openapi("LateWebhook");

const LateWebhookList = z
  .object({
    backlog: z.object({
      pending: z.int().openapi({ description: "Deliveries that are not made yet.", example: 3 }),
      oldestDueSeconds: z.number().nullable().openapi({
        description: "Seconds since the oldest due delivery became due; null when none is due.",
        example: 0.4,
      }),
      undeliverable: z.int().openapi({ description: "Undeliverable webhooks.", example: 0 }),
      processedBlock: nullableDecimal("The newest block whose events are in the outbox.", "317"),
    }),
    count: pageFields.count,
    limit: pageFields.limit,
    nextCursor: cursorField,
    webhooks: z.array(Late),
  })
  .openapi("LateWebhookList");

export const webhooksRoute = createRoute({
  method: "get",
  path: "/api/v1/admin/webhooks",
  operationId: "listLateWebhooks",
  tags: ["admin"],
  summary: "List webhooks that are behind",
  description:
    "Webhooks that are undeliverable, or have deliveries that are not made yet, by their ids; and how far all deliveries are behind.",
  security: adminOnly,
  request: { query: requestObject({ limit: limitInput(), cursor: rowCursor }) },
  responses: adminPage(LateWebhookList),
});

const hostOf = (url: string): string => (URL.canParse(url) ? new URL(url).host : "");

/** `rows` has one webhook more than the page, unless the list ends there. */
export function webhooksBody(
  { pending, oldest, undeliverable, processed }: WebhookFigures,
  rows: readonly LateWebhook[],
  limit: number,
): z.infer<typeof LateWebhookList> {
  const { rows: webhooks, next } = cutPage(rows, limit, ({ id }) => String(id));
  return {
    backlog: { pending, oldestDueSeconds: oldest, undeliverable, processedBlock: processed },
    count: webhooks.length,
    limit,
    nextCursor: next,
    webhooks: webhooks.map(({ url, undeliverableAt, oldestAt, nextAttemptAt, ...webhook }) => ({
      ...webhook,
      host: hostOf(url),
      undeliverableSince: undeliverableAt?.toISOString() ?? null,
      oldestPendingAt: oldestAt?.toISOString() ?? null,
      nextAttemptAt: nextAttemptAt?.toISOString() ?? null,
    })),
  };
}
