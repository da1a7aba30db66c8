import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { burnSources } from "../../ponder.schema.ts";

/**
 * The events of webhooks. On-chain integers are decimal strings: USDC amounts and coverage with 6 decimals, token amounts and
 * prices with 18, bond amounts in whole dollars, times in Unix seconds. Addresses are checksummed, hashes in lower case.
 */

/** Events to subscribe to. Every subscription that may have received an event also receives its `event_reverted`. */
export const eventTypes = [
  "policy_purchased",
  "policy_due",
  "policy_triggered",
  "policy_expired",
  "policy_cancelled",
  "bond_minted",
  "bond_queued",
  "bond_redeemed",
  "listing_created",
  "listing_purchased",
  "listing_cancelled",
  "token_burned",
  "event_reverted",
] as const;
export type EventType = (typeof eventTypes)[number];
/** Sent only at a subscription's creation and on its subscriber's request. */
export const testTypes = ["webhook_challenge", "webhook_test"] as const;
export type TestType = (typeof testTypes)[number];
export type AnyEventType = EventType | TestType;

type Policy = { productId: Hex; productName: string | null; policyId: string; buyer: Address | null };
type Bond = {
  /** The bond's epoch, the month YYYYMM of its maturity. */
  bondId: string;
  holder: Address;
  /** Whole dollars. */
  amount: string;
};

/** The `data` of each event type. */
export type EventData = {
  policy_purchased: Policy & {
    holder: Address;
    /** The payer of the premium; null when the index does not know it. */
    paidBy: Address | null;
    shield: Address | null;
    coverageAmount: string;
    payoutAmount: string;
    premiumPaid: string;
    priceSnapshot: string;
    purchasedAt: string;
    waitingEndsAt: string | null;
    expiresAt: string | null;
  };
  policy_due: Policy & {
    coverageAmount: string;
    payoutAmount: string;
    triggerPrice: string;
    /** The newest price of the feed, 18 decimals like the trigger price, and the time of its round. */
    price: string;
    priceAt: string;
    expiresAt: string;
    /** The first second in which it can be observed: 300 seconds after the purchase at the earliest. */
    dueAt: string;
  };
  policy_triggered: Policy & {
    /** The bond of the payout; null when the transaction issued none. */
    bondId: string | null;
    bondAmount: string;
    reason: Hex;
    triggeredAt: string;
  };
  policy_expired: Policy & { coverageAmount: string; expiresAt: string };
  policy_cancelled: Policy & { cancelledAt: string };
  /** The policy that the same transaction triggered; null without one. */
  bond_minted: Bond & { productId: Hex | null; policyId: string | null };
  bond_queued: Bond & {
    queueId: string;
    /** The week of the redemption throttle in which the queue can pay it. */
    targetEpoch: string;
  };
  bond_redeemed: Bond & {
    tokenAmount: string;
    priceUsed: string;
    /** Null when the redemption was paid without queueing. */
    queueId: string | null;
  };
  /** `price` is the total price of the listing, in USDC. */
  listing_created: { listingId: string; seller: Address; bondId: string; amount: string; price: string };
  listing_purchased: {
    listingId: string;
    seller: Address;
    buyer: Address;
    bondId: string | null;
    amount: string | null;
    price: string;
    sellerFee: string;
    buyerFee: string;
  };
  listing_cancelled: {
    listingId: string;
    seller: Address;
    bondId: string | null;
    amount: string | null;
    /** Always false: only sellers cancel. */
    emergency: boolean;
  };
  token_burned: {
    burner: Address;
    source: (typeof burnSources)[number];
    tokenAmount: string;
    /** 0 unless the burner bought the tokens. */
    usdcSpent: string;
    /** USD per token, 18 decimals; null unless the burner bought them. */
    effectivePrice: string | null;
  };
  event_reverted: {
    /** The reverted event: its block is no longer part of the chain. */
    eventId: string;
    eventType: Exclude<EventType, "event_reverted">;
    /** The hash of the chain's present block at that height. */
    canonicalBlockHash: Hex;
    /** The `data` of the reverted event. */
    data: object;
  };
} & Record<TestType, { webhookId: number; message: string; challenge: string }>;

/** The version of the body's schema. New fields do not raise it; a changed or removed field would. */
export const BODY_VERSION = 1;

/** The body of a delivery. A `policy_expired` has the first block after the end of the cover, and no transaction. */
export type EventBody<Type extends AnyEventType = AnyEventType> = {
  [T in Type]: {
    id: string;
    type: T;
    version: typeof BODY_VERSION;
    /** The block's time; for a test and `event_reverted` the time of the event's creation. ISO 8601. */
    createdAt: string;
    chainId: number;
    blockNumber: T extends TestType ? null : string;
    blockHash: T extends TestType ? null : Hex;
    txHash: Hex | null;
    data: EventData[T];
  };
}[Type];

/** The id of an event. It is derived from the event alone, so that every build of the index yields the same id. */
export function eventId(chainId: number, key: string, occurrence: number): string {
  const digest = createHash("sha256").update(`${chainId}:${key}:${occurrence}`).digest("hex");
  return `evt_${digest.slice(0, 32)}`;
}
