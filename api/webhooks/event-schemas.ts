/** Schemas of the delivered events, one component per type, and the documented calls. */
import { z } from "@hono/zod-openapi";
import { type AnyEventType, BODY_VERSION, eventTypes, testTypes } from "../../lib/webhooks/events.ts";
import { BlockHash, DecimalString, Timestamp, TxHash } from "../http/field-types.ts";
import { eventData } from "./event-data.ts";
import { eventExamples } from "./event-examples.ts";

/** Each event type's component name and description. */
const described: Readonly<Record<AnyEventType, [component: string, description: string]>> = {
  policy_purchased: ["PolicyPurchasedEvent", "A policy was bought. To buyer, holder and payer."],
  policy_due: [
    "PolicyDueEvent",
    "The price has met a policy's trigger: three rounds at or below it count within the window. Sent once for a policy, at the log of the third round; nothing is paid yet. To its buyer. In a global pause, without the sequencer, or once the newest round is older than an hour, it cannot be triggered at once.",
  ],
  policy_triggered: ["PolicyTriggeredEvent", "A policy pays out in a bond. To its buyer."],
  policy_expired: [
    "PolicyExpiredEvent",
    "A policy has expired without a trigger. Sent once, with the first block after its end; it has no transaction. A reorganisation of that block reverts it; if the policy has expired in the new chain too, another `policy_expired` names its first block there. To its buyer.",
  ],
  policy_cancelled: ["PolicyCancelledEvent", "A policy was cancelled. Never sent: V5.4 has no cancellation."],
  bond_minted: ["BondMintedEvent", "A bond was issued. To its holder."],
  bond_queued: [
    "BondQueuedEvent",
    "A redemption above the weekly throttle was queued. To the bond's holder.",
  ],
  bond_redeemed: [
    "BondRedeemedEvent",
    "A bond was redeemed for tokens, directly or from the queue. To its holder.",
  ],
  listing_created: ["ListingCreatedEvent", "A bond was put up for sale. To its seller."],
  listing_purchased: ["ListingPurchasedEvent", "A listed bond was bought. To seller and buyer."],
  listing_cancelled: ["ListingCancelledEvent", "A listing was cancelled. To its seller."],
  token_burned: [
    "TokenBurnedEvent",
    "Protocol tokens were burned. To every webhook that names this type, whoever burns; `*` does not include it.",
  ],
  event_reverted: [
    "EventReverted",
    "A reorganisation removed an event that was sent, or may have been sent: undo its effects. To every webhook that the event was sent to. The block fields are copied from the removed event.",
  ],
  webhook_challenge: [
    "WebhookChallenge",
    "Sent once, when the webhook is created, to whatever it subscribes: a receiver that echoes `challenge` verifies it.",
  ],
  webhook_test: [
    "WebhookTest",
    "A test event, sent only by `POST /api/v1/webhooks/{id}/test`. A receiver that echoes `challenge` verifies the webhook.",
  ],
};

/** The component name of a type. */
export const componentOf = (type: AnyEventType): string => described[type][0];

const ofChain = {
  blockNumber: DecimalString.openapi({ description: "Block of the event.", example: "318" }),
  blockHash: BlockHash,
  txHash: TxHash,
};
/** Of a test, or a challenge. */
const noBlock = () => ({
  blockNumber: none("Null: a test has no block."),
  blockHash: none("Null."),
  txHash: none("Null."),
});
const none = (description: string) => z.string().nullable().openapi({ description, example: null });

/** Types whose block fields differ from those of an event in a transaction. */
const blockFields: Partial<Record<AnyEventType, z.ZodRawShape>> = {
  policy_expired: { ...ofChain, txHash: none("Null: the event has no transaction.") },
  event_reverted: {
    ...ofChain,
    txHash: z
      .string()
      .nullable()
      .openapi({ description: "Null for a removed `policy_expired`.", example: null }),
  },
  webhook_challenge: noBlock(),
  webhook_test: noBlock(),
};

function bodySchema(type: AnyEventType) {
  const [component, description] = described[type];
  return z
    .object({
      id: z
        .string()
        .regex(/^evt_[0-9a-f]{32}$/)
        .openapi({
          description:
            "Id of the event, the same for each of its deliveries and in `webhook-id`. Derived from the event's position in the chain.",
          example: eventExamples[type].id,
        }),
      type: z.enum([type]),
      version: z.literal(BODY_VERSION).openapi({
        type: "integer",
        enum: [BODY_VERSION],
        description:
          "Version of the body. New fields may appear in the same version; changed or removed fields make a new one.",
      }),
      createdAt: Timestamp.openapi({
        description: "Time of the block; for a test and an `event_reverted` the time of creation.",
      }),
      chainId: z.int().openapi({ example: 8453 }),
      ...ofChain,
      ...blockFields[type],
      data: eventData[type],
    })
    .openapi(component, { description, example: eventExamples[type] });
}

/** All event types. */
export const allEventTypes: readonly AnyEventType[] = [...eventTypes, ...testTypes];

/** The components by name. */
export const eventSchemas: Readonly<Record<string, z.ZodType>> = Object.fromEntries(
  allEventTypes.map((type) => [componentOf(type), bodySchema(type)]),
);

const references = allEventTypes.map((type) => ({ $ref: `#/components/schemas/${componentOf(type)}` }));

const header = (description: string, example: string, required = true) => ({
  in: "header" as const,
  required,
  description,
  schema: { type: "string" as const },
  example,
});

const deliveryHeaders = [
  {
    name: "X-Service-Signature",
    ...header(
      "Hex of HMAC-SHA256 over the body. The key is the secret's 64 hex digits as text, not the decoded bytes.",
      "f3b6f1f7fd0c3dd6a1f8ff0ba6d3f5b5cbb64a2b6bb7d9fd0db2f4b0dbe1f5a2",
    ),
  },
  {
    name: "X-Service-Signature-Previous",
    ...header(
      "The same with the previous secret, for 24 hours after a rotation.",
      "09abf1f7fd0c3dd6a1f8ff0ba6d3f5b5cbb64a2b6bb7d9fd0db2f4b0dbe1c7e4",
      false,
    ),
  },
  {
    name: "webhook-id",
    ...header("The event's `id`. Ignore an id that you have processed.", eventExamples.policy_purchased.id),
  },
  {
    name: "webhook-timestamp",
    ...header(
      "Time of this attempt, Unix seconds. Refuse attempts more than five minutes from your clock.",
      "1767225601",
    ),
  },
  {
    name: "webhook-signature",
    ...header(
      "By Standard Webhooks: `v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`. Two signatures, separated by a space, while the previous secret still signs.",
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
  },
  {
    name: "traceparent",
    ...header(
      "By W3C Trace Context, for an event in the transaction of a purchase that was made with this header, but never for token_burned: the same trace and parent, in each attempt.",
      "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
      false,
    ),
  },
];

/** The documented calls to a subscriber. */
export const deliveryCallbacks = {
  event: {
    "{$request.body#/url}": {
      post: {
        operationId: "receiveEvent",
        summary: "Receive an event",
        description:
          "An event of the wallet. Only a 2xx status within ten seconds counts as delivered; redirects are not followed. Other outcomes are retried after 1, 5 and 30 minutes, 2, 12 and 24 hours. An event may arrive more than once, with the same id.",
        parameters: deliveryHeaders,
        requestBody: {
          required: true,
          content: { "application/json": { schema: { oneOf: references } } },
        },
        responses: {
          "2XX": {
            description: "The event was received. The body is ignored, unless it echoes a challenge.",
          },
        },
      },
    },
  },
};
