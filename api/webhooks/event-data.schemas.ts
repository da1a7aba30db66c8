/** What the events of webhooks carry in `data`, type by type, as the OpenAPI document tells it. */
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
    .openapi({ description, example: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" });

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
    .openapi({ description: "Null when it is not known.", example: "FLASHBTC24-001" }),
  policyId: number("Counts per product.", "6"),
  buyer: nullableAddress("Null when the index does not know the purchase."),
};

const BOND_ID = "The bond's epoch, the month YYYYMM of its maturity.";
const dollars = (description: string) => number(`${description} Whole dollars.`, "800");
const nullableDollars = (description: string) => nullableDecimal(`${description} Whole dollars.`, "800");

const bond = {
  bondId: number(BOND_ID, "202812"),
  holder: Address.openapi({ description: "Whose the bond is." }),
  amount: dollars("Face value."),
};

const listing = {
  listingId: number("Number of the listing.", "3"),
  seller: Address.openapi({ description: "Who offers, or offered, the bond." }),
};
const listedBond = {
  bondId: nullableDecimal(`${BOND_ID} Null when the index does not know the listing.`, "202812"),
  amount: nullableDollars("Face value; null when the index does not know the listing."),
};

/** One schema for each type; {@link Fits} holds them to `EventData`. */
export const eventData = {
  policy_purchased: z.object({
    ...policy,
    holder: Address.openapi({ description: "Whose the policy is." }),
    paidBy: nullableAddress("Who paid the premium; null when the index does not know."),
    shield: nullableAddress("The product's adapter; null when the index does not know."),
    coverageAmount: usdc("", "1000000000"),
    payoutAmount: usdc("Face value of the bond that a trigger pays out.", "800000000"),
    premiumPaid: usdc("", "52600000"),
    priceSnapshot: token(
      "USD per token at the purchase; 0 for policies of the first release.",
      "100000000000000000",
    ),
    purchasedAt: time(""),
    waitingEndsAt: nullableDecimal("End of the waiting period, Unix seconds; null where there is none."),
    expiresAt: nullableDecimal(
      "End of the cover, Unix seconds; null when the index does not know.",
      "1767312000",
    ),
  }),
  policy_triggered: z.object({
    ...policy,
    bondId: nullableDecimal(
      "The bond that pays the policy; null where none was issued in the transaction.",
      "202812",
    ),
    bondAmount: dollars("Face value of that bond."),
    reason: Bytes32.openapi({ description: "The shield's word for why, as bytes32." }),
    triggeredAt: time(""),
  }),
  policy_expired: z.object({
    ...policy,
    coverageAmount: usdc("", "1000000000"),
    expiresAt: time("End of the cover, which a block's time has passed."),
  }),
  policy_cancelled: z.object({ ...policy, cancelledAt: time("") }),
  bond_minted: z.object({
    ...bond,
    productId: nullableBytes32("Of the policy triggered in the same transaction; null where there was none."),
    policyId: nullableDecimal(
      "The policy triggered in the same transaction; null where there was none.",
      "6",
    ),
  }),
  bond_queued: z.object({
    ...bond,
    queueId: number("Place in the queue of redemptions.", "1"),
    targetEpoch: number("The week of the redemption throttle from which it can be paid.", "2923"),
  }),
  bond_redeemed: z.object({
    bondId: nullableDecimal(
      `${BOND_ID} Null for one out of a queue whose queuing the index does not know.`,
      "202812",
    ),
    holder: bond.holder,
    amount: nullableDollars("Face value; null as `bondId` is."),
    tokenAmount: token("Tokens that were paid.", "8000000000000000000000"),
    priceUsed: token("USD per token.", "100000000000000000"),
    queueId: nullableDecimal("Its place in the queue; null when it was paid at once."),
  }),
  listing_created: z.object({
    ...listing,
    bondId: bond.bondId,
    amount: bond.amount,
    price: usdc("What the whole listing costs.", "600000000"),
  }),
  listing_purchased: z.object({
    ...listing,
    buyer: Address.openapi({ description: "Who bought the bond." }),
    ...listedBond,
    price: usdc("What the whole listing cost.", "600000000"),
    sellerFee: usdc("Taken from the seller.", "9000000"),
    buyerFee: usdc("Paid by the buyer on top.", "9000000"),
  }),
  listing_cancelled: z.object({
    ...listing,
    ...listedBond,
    emergency: z.boolean().openapi({ description: "Cancelled by the marketplace's owner.", example: false }),
  }),
  token_burned: z.object({
    burner: Address.openapi({ description: "Whose tokens were burned." }),
    source: z
      .enum(burnSources)
      .openapi({ description: "The kind of burner; `direct` for a burn without one." }),
    tokenAmount: token("Tokens that were burned.", "12500000000000000000"),
    usdcSpent: usdc("0 for a direct burn.", "52600000"),
    effectivePrice: nullableDecimal(
      "USD per token, 18 decimals; null for a direct burn.",
      "100000000000000000",
    ),
  }),
  event_reverted: z.object({
    eventId: z.string().openapi({ description: "`id` of the event that is taken back." }),
    eventType: z.enum(eventTypes).exclude(["event_reverted"]).openapi({ example: "policy_purchased" }),
    canonicalBlockHash: Bytes32.openapi({
      description: "The hash that the chain has at that event's height now.",
    }),
    data: z
      .record(z.string(), z.unknown())
      .openapi({ description: "The `data` of the event that is taken back." }),
  }),
  webhook_test: z.object({
    webhookId: z.int().openapi({ example: 1 }),
    message: z.string().openapi({ example: "This is a test." }),
  }),
};

/** A type as JSON carries it: hex texts are texts, and a record is an object. */
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

/** The document's words and the bodies' type are the same, field by field; `tsc` refuses what is not. */
export type Fits = AllFit<{
  [Type in AnyEventType]: Same<Plain<EventData[Type]>, Plain<z.output<(typeof eventData)[Type]>>>;
}>;
