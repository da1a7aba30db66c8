/** Schemas of `data` in webhook events, by type. */
import { z } from "@hono/zod-openapi";
import type { AnyEventType, EventData } from "../../lib/webhooks/events.ts";
import { eventTypes } from "../../lib/webhooks/events.ts";
import { burnSources } from "../../ponder.schema.ts";
import {
  Address,
  Bytes32,
  DecimalString,
  nullableBytes32,
  nullableDecimal,
  UnixSeconds,
} from "../http/field-types.ts";

const nullableAddress = (description: string) =>
  z
    .string()
    .regex(/^0x[a-fA-F0-9]{40}$/)
    .nullable()
    .openapi({ description, example: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC" });

const number = (description: string, example: string) =>
  DecimalString.openapi({ description: description.trim(), example });
const usdc = (description: string, example: string) => number(`${description} USDC, 6 decimals.`, example);
const token = (description: string, example: string) => number(`${description} 18 decimals.`, example);
const time = (description: string) =>
  UnixSeconds.openapi({ description: `${description} Unix seconds.`.trim() });

const policy = {
  productId: Bytes32,
  productName: z
    .string()
    .nullable()
    .openapi({ description: "Null when unknown.", example: "FLASHBTC24-001" }),
  policyId: number("Numbered per product.", "6"),
  buyer: nullableAddress("Null when the index does not know the purchase."),
};

const BOND_ID = "The bond's epoch, the month YYYYMM of its maturity.";
const dollars = (description: string) => number(`${description} Whole dollars.`, "800");
const nullableDollars = (description: string) => nullableDecimal(`${description} Whole dollars.`, "800");

const bond = {
  bondId: number(BOND_ID, "202812"),
  holder: Address.openapi({ description: "Owner of the bond." }),
  amount: dollars("Face value."),
};

const listing = {
  listingId: number("Id of the listing.", "3"),
  seller: Address.openapi({ description: "Seller of the bond." }),
};
const listedBond = {
  bondId: nullableDecimal(`${BOND_ID} Null when the index does not know the listing.`, "202812"),
  amount: nullableDollars("Face value; null when the index does not know the listing."),
};

const challenge = (example: string) =>
  z.object({
    webhookId: z.int().openapi({ example: 1 }),
    message: z.string().openapi({ example }),
    challenge: z.string().openapi({
      description:
        "To verify the webhook, answer with a 2xx status and these characters within the first 2 kB of the body, without the event's `id`.",
      example: "5d4a7f0b9c2e4d1f8a6b3c5e7f901234",
    }),
  });

/** One schema per type; {@link Fits} checks them against `EventData`. */
export const eventData = {
  policy_purchased: z.object({
    ...policy,
    holder: Address.openapi({ description: "Owner of the policy." }),
    paidBy: nullableAddress("Payer of the premium; null when unknown."),
    shield: nullableAddress("Adapter contract of the product's shield; null when unknown."),
    coverageAmount: usdc("", "1000000000"),
    payoutAmount: usdc("Face value of the bond that a trigger pays.", "800000000"),
    premiumPaid: usdc("", "52600000"),
    priceSnapshot: token("USD per token at the purchase; 0 when unknown.", "100000000000000000"),
    purchasedAt: time(""),
    waitingEndsAt: nullableDecimal("End of the waiting period, Unix seconds. Always null: V5.4 has none."),
    expiresAt: nullableDecimal("End of the cover, Unix seconds; null when unknown.", "1767312000"),
  }),
  policy_due: z.object({
    ...policy,
    coverageAmount: usdc("", "1000000000"),
    payoutAmount: usdc("Face value of the bond that a trigger pays.", "800000000"),
    triggerPrice: token("The highest price that triggers the policy, in USD.", "56400000000000000000000"),
    price: token("The newest price of the feed, in USD.", "56390000000000000000000"),
    priceAt: time("Time of that price's round."),
    expiresAt: time("End of the cover, and the last second in which it can be observed."),
    dueAt: time(
      "First second in which it can be observed: the latest of the block's time, the round's, and 300 seconds after the purchase.",
    ),
  }),
  policy_triggered: z.object({
    ...policy,
    bondId: nullableDecimal("The bond that pays the policy; null if the transaction issued none.", "202812"),
    bondAmount: dollars("Face value of that bond."),
    reason: Bytes32.openapi({
      description: "SETTLED_BY_KEEPER, or TRIGGER_DROP for a trigger by the router, as bytes32.",
    }),
    triggeredAt: time(""),
  }),
  policy_expired: z.object({
    ...policy,
    coverageAmount: usdc("", "1000000000"),
    expiresAt: time("End of the cover."),
  }),
  policy_cancelled: z.object({ ...policy, cancelledAt: time("") }),
  bond_minted: z.object({
    ...bond,
    productId: nullableBytes32(
      "Product of the policy triggered in the same transaction; null if there is none.",
    ),
    policyId: nullableDecimal("Policy triggered in the same transaction; null if there is none.", "6"),
  }),
  bond_queued: z.object({
    ...bond,
    queueId: number(
      "The week of its payment × 10,000, and its place among that week's entries, from 0.",
      "29230001",
    ),
    targetEpoch: number("The week of the redemption throttle in which it can be paid.", "2923"),
  }),
  bond_redeemed: z.object({
    ...bond,
    tokenAmount: token("Tokens paid.", "8000000000000000000000"),
    priceUsed: token("USD per token.", "100000000000000000"),
    queueId: nullableDecimal("Its id in the queue; null if it was not queued."),
  }),
  listing_created: z.object({
    ...listing,
    bondId: bond.bondId,
    amount: bond.amount,
    price: usdc("Price of the whole listing.", "600000000"),
  }),
  listing_purchased: z.object({
    ...listing,
    buyer: Address.openapi({ description: "Buyer of the bond." }),
    ...listedBond,
    price: usdc("Price of the whole listing.", "600000000"),
    sellerFee: usdc(
      "Fee deducted from the price; the rest is credited to the seller, who withdraws it.",
      "9000000",
    ),
    buyerFee: usdc("Fee paid by the buyer on top.", "9000000"),
  }),
  listing_cancelled: z.object({
    ...listing,
    ...listedBond,
    emergency: z.boolean().openapi({ description: "Always false: only sellers cancel.", example: false }),
  }),
  token_burned: z.object({
    burner: Address.openapi({ description: "Owner of the burned tokens." }),
    source: z.enum(burnSources).openapi({
      description:
        "`twap_burner`: the burner; `buyback_engine`: tokens of the reserve, burned with bonds that were bought back; `direct`: all others.",
    }),
    tokenAmount: token("Burned tokens.", "526000000000000000000"),
    usdcSpent: usdc("Spent on the tokens; 0 unless the burner bought them.", "52600000"),
    effectivePrice: nullableDecimal(
      "USD per token, 18 decimals; null unless the burner bought them.",
      "100000000000000000",
    ),
  }),
  event_reverted: z.object({
    eventId: z.string().openapi({ description: "`id` of the removed event." }),
    eventType: z.enum(eventTypes).exclude(["event_reverted"]).openapi({ example: "policy_purchased" }),
    canonicalBlockHash: Bytes32.openapi({
      description: "Hash of the block that replaced the event's block.",
    }),
    data: z.record(z.string(), z.unknown()).openapi({ description: "`data` of the removed event." }),
  }),
  webhook_challenge: challenge("Answer with this challenge to verify the webhook."),
  webhook_test: challenge("This is a test."),
};

/** A type in JSON: hex strings are strings, and a record is an object. */
type Plain<T> = T extends string
  ? string extends T
    ? T
    : T extends `0x${string}`
      ? string
      : T
  : T extends boolean | number | null
    ? T
    : Record<string, never> extends T
      ? object
      : { [Key in keyof T]: Plain<T[Key]> };

type Same<A, B> = [A, B] extends [B, A] ? true : false;

type AllFit<T extends Record<AnyEventType, true>> = T;

/** Fails to compile unless schemas and `EventData` agree field by field. @public */
export type Fits = AllFit<{
  [Type in AnyEventType]: Same<Plain<EventData[Type]>, Plain<z.output<(typeof eventData)[Type]>>>;
}>;
