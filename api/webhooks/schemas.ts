/** Schemas of webhooks. */

import { z } from "@hono/zod-openapi";
import { type EventType, eventTypes } from "../../lib/webhooks/events.ts";
import { DecimalString, nullableTimestamp, Timestamp } from "../http/field-types.ts";
import { requestObject } from "../http/request-object.ts";
import type { Webhook as Record } from "./store.ts";

const ALL = "*";
export type EventName = EventType | typeof ALL;

const named = z.enum([...eventTypes, ALL]);

/** `"*"`, an event type, or a list of event types; repeated names count once. */
const eventsInput = z
  .union([named, z.array(named).min(1).max(100)], {
    error: `must be "*", or one or a list of ${eventTypes.join(", ")}`,
  })
  .transform((events): EventName[] => [...new Set([events].flat())])
  .refine((events) => events.length === 1 || !events.includes(ALL), '"*" must be the only entry')
  .refine(
    (events) => events.some((event) => event !== "event_reverted"),
    "must name other events too: event_reverted is always sent for events that were sent",
  )
  .openapi({
    description:
      "Event types to send: `*` for all events of the own wallet, including types of later versions, or one name or a list of names. Burns, which are of no wallet, are sent to webhooks that name `token_burned`. `event_reverted` is always sent for events that were sent, so it cannot be the only name.",
    example: "*",
  });

export const NewWebhook = requestObject({
  url: z.string().openapi({
    description:
      "Receives the events: https, port 443, a public address; at most 2048 characters, no user name or password. Redirects are not followed. The host's addresses are checked now and before each delivery.",
    example: "https://example.com/hook",
  }),
  events: eventsInput,
}).openapi("NewWebhook", {
  example: { url: "https://example.com/hook", events: ["policy_triggered", "bond_redeemed"] },
});

const Secret = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .openapi({
    description:
      "Signs the deliveries; shown only in this response. The HMAC key is these 64 characters; libraries for Standard Webhooks take `whsec_` and their base64.",
    example: "8c1f4b7e02d95a63f1b84ce7306da92f5be07c4183d6a95f20e7b1c84d3a6f9e",
  });
const secretWarning = "Store this secret now: it cannot be shown again.";
const Warning = z.string().openapi({ example: secretWarning });

export const WebhookId = z.int().openapi({ description: "Id of the webhook.", example: 1 });

const fields = z.object({
  id: WebhookId,
  url: z.string().openapi({ description: "The normalised URL.", example: "https://example.com/hook" }),
  events: z.array(z.string()).openapi({
    description: "Names of event types, or `*` alone.",
    example: ["policy_triggered", "bond_redeemed"],
  }),
  state: z.enum(["active", "undeliverable"]).openapi({
    description:
      "`undeliverable`: seven attempts for one event have failed over about 39 hours; nothing is sent until `POST …/retry`.",
  }),
  undeliverableSince: nullableTimestamp("Null while active."),
  fromBlock: DecimalString.openapi({
    description: "The chain's newest block at creation: events of later blocks are sent.",
    example: "317",
  }),
  previousSecretValidUntil: nullableTimestamp(
    "Until then the previous secret signs too; null if there is none.",
  ),
  verified: z.boolean().openapi({
    description:
      "Whether the receiver has echoed the `challenge` that the webhook's creation, or `POST …/test`, has sent to it. Until then all events are sent, but at most 60 calls an hour to the host and 30 for the wallet, and a wallet may ask for five replays a day.",
    example: true,
  }),
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
      description: "Until then the previous secret signs too.",
    }),
  })
  .openapi("RotatedSecret");

export function webhookBody(webhook: Record): z.infer<typeof Webhook> {
  const { id, url, events, state, fromBlock, undeliverableAt, previousSecretUntil, verified, createdAt } =
    webhook;
  return {
    id,
    url,
    events: [...events],
    state,
    undeliverableSince: undeliverableAt?.toISOString() ?? null,
    fromBlock: String(fromBlock),
    previousSecretValidUntil: previousSecretUntil?.toISOString() ?? null,
    verified,
    createdAt: createdAt.toISOString(),
  };
}

/** A response with a secret, which cannot be read again. */
export const withSecret = <Body extends object>(body: Body, secret: string) =>
  ({ ok: true, ...body, secret, warning: secretWarning }) as const;
