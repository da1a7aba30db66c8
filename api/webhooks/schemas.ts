/** Subscriptions: what makes one, and how they are answered. */
import { z } from "@hono/zod-openapi";
import { type EventType, eventTypes } from "../../lib/webhooks/events.ts";
import { DecimalString, nullableTimestamp, Timestamp } from "../http/field-types.ts";
import type { Webhook as Record } from "./store.ts";

const ALL = "*";
export type EventName = EventType | typeof ALL;

const named = z.enum([...eventTypes, ALL]);

/** `"*"` alone, in a list or not, or names of types; each counts once. */
const eventsInput = z
  .union([z.literal(ALL), z.array(named).min(1).max(100)], {
    error: `must be "*" or a list of ${eventTypes.join(", ")}`,
  })
  .transform((events): EventName[] => (events === ALL ? [ALL] : [...new Set(events)]))
  .refine((events) => events.length === 1 || !events.includes(ALL), '"*" is all events, and stands alone')
  .refine(
    (events) => events.some((event) => event !== "event_reverted"),
    "must name the events that event_reverted takes back: it comes to whoever was sent one, named or not",
  )
  .openapi({
    description:
      "The events to be sent: `*` for all, also those of later versions, or a list of their names, where a name counts once. `event_reverted` comes to whoever was sent what it takes back, named or not, and so not alone.",
    example: "*",
  });

export const NewWebhook = z
  .object({
    url: z.string().openapi({
      description:
        "Where the events go: https, port 443, a public address; 2048 characters at most, no user name or password. Redirects are not followed. What the name resolves to is looked at now and before each delivery.",
      example: "https://example.com/hook",
    }),
    events: eventsInput,
  })
  .openapi("NewWebhook", {
    example: { url: "https://example.com/hook", events: ["policy_triggered", "bond_redeemed"] },
  });

const Secret = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .openapi({
    description:
      "Signs the deliveries; shown this once. The HMAC's key is these 64 characters; libraries for Standard Webhooks take `whsec_` and their base64.",
    example: "1f".repeat(32),
  });
const secretWarning = "Store this secret now: it cannot be shown again.";
const Warning = z.string().openapi({ example: secretWarning });

export const WebhookId = z.int().openapi({ description: "Number of a webhook.", example: 1 });

const fields = z.object({
  id: WebhookId,
  url: z
    .string()
    .openapi({ description: "In its normal form, as it is called.", example: "https://example.com/hook" }),
  events: z.array(z.string()).openapi({
    description: "Names of event types, or `*` alone.",
    example: ["policy_triggered", "bond_redeemed"],
  }),
  state: z.enum(["active", "undeliverable"]).openapi({
    description:
      "`undeliverable`: seven attempts to deliver an event have failed, over a day and a half or longer; nothing more is sent until `POST …/retry`.",
  }),
  undeliverableSince: nullableTimestamp("Null while active."),
  fromBlock: DecimalString.openapi({
    description: "The chain's newest block at the creation: events of later blocks are sent.",
    example: "317",
  }),
  previousSecretValidUntil: nullableTimestamp(
    "Until when the secret before the last rotation signs too; null when it does not.",
  ),
  createdAt: Timestamp,
});

export const Webhook = fields.openapi("Webhook");
export const CreatedWebhook = fields
  .extend({ ok: z.literal(true), secret: Secret, warning: Warning })
  .openapi("CreatedWebhook");
export const RotatedSecret = z
  .object({
    ok: z.literal(true),
    id: WebhookId,
    secret: Secret,
    warning: Warning,
    previousSecretValidUntil: Timestamp.openapi({
      description: "Until then the former secret signs beside the new one.",
    }),
  })
  .openapi("RotatedSecret");

export function webhookBody(webhook: Record): z.infer<typeof Webhook> {
  const { id, url, events, state, fromBlock, undeliverableAt, previousSecretUntil, createdAt } = webhook;
  return {
    id,
    url,
    events: [...events],
    state,
    undeliverableSince: undeliverableAt?.toISOString() ?? null,
    fromBlock: String(fromBlock),
    previousSecretValidUntil: previousSecretUntil?.toISOString() ?? null,
    createdAt: createdAt.toISOString(),
  };
}

/** The answers that hold a secret, which nobody can read again. */
export const withSecret = <Body extends object>(body: Body, secret: string) =>
  ({ ok: true, ...body, secret, warning: secretWarning }) as const;
