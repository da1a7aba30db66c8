import { createHash } from "node:crypto";
import type { Address, Hex } from "viem";
import type { burnSources } from "../../ponder.schema.ts";

/**
 * The events of webhooks. On-chain integers are decimal strings; USDC amounts and coverage have 6 decimals, the token and
 * prices 18, bond amounts are whole dollars, times Unix seconds. Addresses are checksummed, hashes in lower case.
 */

/** Events that a subscription can name. `event_reverted` reaches whoever was sent what it takes back, named or not. */
export const eventTypes = [
  "policy_purchased",
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
/** `webhook_test` is sent when its subscriber asks for it, and never otherwise. */
export type AnyEventType = EventType | "webhook_test";

type Policy = { productId: Hex; productName: string | null; policyId: string; buyer: Address | null };
type Bond = {
  /** The bond's epoch, the month YYYYMM of its maturity. */
  bondId: string;
  holder: Address;
  /** Whole dollars. */
  amount: string;
};

/** What the events of each type carry in `data`. */
export type EventData = {
  policy_purchased: Policy & {
    holder: Address;
    /** Who paid the premium; null when the index does not know. */
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
  policy_triggered: Policy & {
    /** The bond that pays the policy; null where none was issued in the transaction. */
    bondId: string | null;
    bondAmount: string;
    reason: Hex;
    triggeredAt: string;
  };
  policy_expired: Policy & { coverageAmount: string; expiresAt: string };
  policy_cancelled: Policy & { cancelledAt: string };
  /** The policy is the one triggered in the same transaction; null where there was none. */
  bond_minted: Bond & { productId: Hex | null; policyId: string | null };
  bond_queued: Bond & {
    queueId: string;
    /** The week of the redemption throttle from which it can be paid. */
    targetEpoch: string;
  };
  bond_redeemed: Omit<Bond, "bondId" | "amount"> & {
    /** Null for one out of a queue whose queuing the index does not know, as is the amount. */
    bondId: string | null;
    amount: string | null;
    tokenAmount: string;
    priceUsed: string;
    /** Null when it was paid at once. */
    queueId: string | null;
  };
  /** `price` is the listing's total, in USDC. */
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
    /** Cancelled by the marketplace's owner. */
    emergency: boolean;
  };
  token_burned: {
    burner: Address;
    source: (typeof burnSources)[number];
    tokenAmount: string;
    /** 0 for a direct burn. */
    usdcSpent: string;
    /** USD per token, 18 decimals; null for a direct burn. */
    effectivePrice: string | null;
  };
  event_reverted: {
    /** The event that is taken back: what it told has not happened on the chain as it is now. */
    eventId: string;
    eventType: Exclude<EventType, "event_reverted">;
    /** The hash that the chain has at that height now. */
    canonicalBlockHash: Hex;
    /** The `data` of the event that is taken back. */
    data: object;
  };
  webhook_test: { webhookId: number; message: string };
};

/** Of the body's shape: fields may be added under the same number, never changed or taken away. */
export const BODY_VERSION = 1;

/** What is sent. The block of a `policy_expired` is the one whose time passed the end; it has no transaction. */
export type EventBody<Type extends AnyEventType = AnyEventType> = {
  [T in Type]: {
    id: string;
    type: T;
    version: typeof BODY_VERSION;
    /** The block's time, or for a test and an `event_reverted` when it was made; ISO 8601. */
    createdAt: string;
    chainId: number;
    blockNumber: T extends "webhook_test" ? null : string;
    blockHash: T extends "webhook_test" ? null : Hex;
    txHash: Hex | null;
    data: EventData[T];
  };
}[Type];

/** What subscribers know an event by. It follows from the event alone, so that no index can give it another. */
export function eventId(chainId: number, key: string, occurrence: number): string {
  const digest = createHash("sha256").update(`${chainId}:${key}:${occurrence}`).digest("hex");
  return `evt_${digest.slice(0, 32)}`;
}
