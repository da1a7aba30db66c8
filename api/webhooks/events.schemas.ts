/** The bodies of webhook deliveries, each type a component of its own, and how they are delivered. */
import { z } from "@hono/zod-openapi";
import { type AnyEventType, BODY_VERSION, eventTypes } from "../../lib/webhooks/events.ts";
import { Bytes32, DecimalString, Timestamp } from "../http/field-types.ts";
import { eventData } from "./event-data.schemas.ts";
import { eventExamples } from "./event-examples.ts";

/** What each event type is called as a component, and when it is sent. */
const described: Readonly<Record<AnyEventType, [component: string, description: string]>> = {
  policy_purchased: ["PolicyPurchasedEvent", "A policy was bought. To buyer, holder and payer."],
  policy_triggered: ["PolicyTriggeredEvent", "A policy pays out in a bond. To its buyer."],
  policy_expired: [
    "PolicyExpiredEvent",
    "A policy's cover has ended without a trigger: told once, when a block's time has passed its end; that block is the event's, which has no transaction. It stands, with the block that it names, also when a reorganisation replaces that block, for as long as the policy is past its end. To its buyer.",
  ],
  policy_cancelled: ["PolicyCancelledEvent", "A policy was cancelled. To its buyer."],
  bond_minted: ["BondMintedEvent", "A bond was issued. To its holder."],
  bond_queued: [
    "BondQueuedEvent",
    "A redemption beyond the throttle was put into the queue. To the bond's holder.",
  ],
  bond_redeemed: [
    "BondRedeemedEvent",
    "A bond was paid in tokens, at once or out of the queue. To its holder.",
  ],
  listing_created: ["ListingCreatedEvent", "A bond was put up for sale. To its seller."],
  listing_purchased: ["ListingPurchasedEvent", "A listed bond was bought. To seller and buyer."],
  listing_cancelled: ["ListingCancelledEvent", "A listing was taken back. To its seller."],
  token_burned: ["TokenBurnedEvent", "Protocol tokens were burned. To everybody who names it, or `*`."],
  event_reverted: [
    "EventReverted",
    "A reorganisation of the chain has taken back an event that was sent, or may have been: what it told has not happened. To whoever was sent it. The block fields are those of the event that is taken back.",
  ],
  webhook_test: ["WebhookTest", "A sample, sent by `POST /api/v1/webhooks/{id}/test` alone."],
};

/** Name of the component that describes the bodies of a type. */
export const componentOf = (type: AnyEventType): string => described[type][0];

const ofChain = {
  blockNumber: DecimalString.openapi({ description: "Block of the event.", example: "318" }),
  blockHash: Bytes32,
  txHash: Bytes32,
};
const none = (description: string) => z.string().nullable().openapi({ description, example: null });

/** The block's fields, where a type has them otherwise than as those of a transaction's event. */
const blockFields: Partial<Record<AnyEventType, z.ZodRawShape>> = {
  policy_expired: { ...ofChain, txHash: none("Null: the event comes of time.") },
  event_reverted: {
    ...ofChain,
    txHash: z
      .string()
      .nullable()
      .openapi({ description: "Null for a `policy_expired` that is taken back.", example: null }),
  },
  webhook_test: {
    blockNumber: none("Null: a test is of no block."),
    blockHash: none("Null."),
    txHash: none("Null."),
  },
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
            "The event's, and the same for every delivery of it: also stands in `webhook-id`. It follows from the event's place in the chain.",
          example: eventExamples[type].id,
        }),
      type: z.enum([type]),
      version: z.literal(BODY_VERSION).openapi({
        type: "integer",
        enum: [BODY_VERSION],
        description:
          "Of the body's shape: fields may be added under the same number, never changed or taken away.",
      }),
      createdAt: Timestamp.openapi({
        description: "The block's time; of a test and an `event_reverted`, when it was made.",
      }),
      chainId: z.int().openapi({ example: 8453 }),
      ...ofChain,
      ...blockFields[type],
      data: eventData[type],
    })
    .openapi(component, { description, example: eventExamples[type] });
}

/** Every type that can be sent. */
export const allEventTypes: readonly AnyEventType[] = [...eventTypes, "webhook_test"];

/** The components, by their names. */
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

const signatureHeaders = [
  {
    name: "X-Service-Signature",
    ...header(
      "Hex of HMAC-SHA256 over the body's bytes. The key is the secret's 64 hex digits as text, not the bytes that they stand for.",
      "f3b6f1f7fd0c3dd6a1f8ff0ba6d3f5b5cbb64a2b6bb7d9fd0db2f4b0dbe1f5a2",
    ),
  },
  {
    name: "X-Service-Signature-Previous",
    ...header("The same by the secret before the last rotation, for 24 hours after it.", "09ab…", false),
  },
  {
    name: "webhook-id",
    ...header("The event's `id`: who has seen it has seen the event.", eventExamples.policy_purchased.id),
  },
  {
    name: "webhook-timestamp",
    ...header(
      "When this attempt was made, Unix seconds: refuse what is more than five minutes away.",
      "1767225601",
    ),
  },
  {
    name: "webhook-signature",
    ...header(
      "As Standard Webhooks has it: `v1,` and the base64 of HMAC-SHA256 over `{webhook-id}.{webhook-timestamp}.{body}`; two of them, apart by a space, while a former secret still signs.",
      "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
    ),
  },
];

/** What a subscriber is called with, for the operation that makes a subscription. */
export const deliveryCallbacks = {
  event: {
    "{$request.body#/url}": {
      post: {
        operationId: "receiveEvent",
        summary: "An event that concerns the wallet",
        description:
          "Only a status of 2xx within ten seconds counts as delivered; redirects are not followed. Anything else is tried again after 1 and 5 minutes, 30 minutes, 2, 12 and 24 hours. The same event may come more than once, with the same id.",
        parameters: signatureHeaders,
        requestBody: {
          required: true,
          content: { "application/json": { schema: { oneOf: references } } },
        },
        responses: { "2XX": { description: "The event has arrived. The body is not looked at." } },
      },
    },
  },
};
