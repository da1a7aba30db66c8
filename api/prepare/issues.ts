/** Makes the issues of an action; integers become decimal strings here. */
import type { Address } from "viem";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { WEEK_SECONDS } from "../../lib/vault-units.ts";
import type { ChainHead } from "../chain/block.ts";
import { isoTime } from "../http/field-types.ts";
import { priceText, usdcText } from "./amount-text.ts";
import type { Issue } from "./issue-schemas.ts";

type FieldOf<Code extends Issue["code"]> = Extract<Issue, { code: Code }>;

export const compared = (actual: bigint, needed: bigint) => ({
  actual: String(actual),
  needed: String(needed),
});

/** Too low an allowance, 6 decimals; undefined when it suffices. */
export const allowanceIssue = (spender: Address, actual: bigint, needed: bigint): Issue | undefined =>
  actual >= needed
    ? undefined
    : {
        code: "allowance",
        blocking: false,
        message: `The contract may take ${usdcText(actual)} of the wallet, and needs ${usdcText(needed)}: the approval step comes first.`,
        spender,
        ...compared(actual, needed),
      };

export const permitUnsupportedIssue = (token: Address): Issue => ({
  code: "permit_unsupported",
  blocking: true,
  message: "The token knows no permits: approve the cover router by a transaction.",
  token,
});

export const walletCodeIssue: Issue = {
  code: "wallet_code",
  blocking: false,
  message:
    "The wallet has code, by which USDC judges its permit: where it is refused, send the approval step instead.",
};

/** Too low a balance of USDC, 6 decimals; undefined when it suffices. */
export const balanceIssue = (token: Address, actual: bigint, needed: bigint): Issue | undefined =>
  actual >= needed
    ? undefined
    : {
        code: "balance",
        blocking: true,
        message: `The wallet has ${usdcText(actual)} and needs ${usdcText(needed)}.`,
        token,
        ...compared(actual, needed),
      };

/** Too few bonds of an epoch, whole dollars; undefined when there are enough. */
export const bondBalanceIssue = (epochId: bigint, actual: bigint, needed: bigint): Issue | undefined =>
  actual >= needed
    ? undefined
    : {
        code: "bond_balance",
        blocking: true,
        message: `The wallet has ${actual} bonds of ${epochId} and needs ${needed}.`,
        epochId: String(epochId),
        ...compared(actual, needed),
      };

/** The fields that are whole dollars of bonds; the others are USDC with 6 decimals. */
const bondFields: readonly FieldOf<"below_minimum">["field"][] = ["usdAmount", "amount"];

/** A value of the request below a minimum of the contracts; undefined when it is high enough. */
export const minimumIssue = (
  field: FieldOf<"below_minimum">["field"],
  actual: bigint,
  needed: bigint,
): Issue | undefined => {
  if (actual >= needed) return undefined;
  const text = bondFields.includes(field) ? String : usdcText;
  return {
    code: "below_minimum",
    blocking: true,
    message: `${field} is ${text(actual)}; the minimum is ${text(needed)}.`,
    field,
    ...compared(actual, needed),
  };
};

export const maximumIssue = (actual: bigint, needed: bigint): Issue | undefined =>
  actual <= needed
    ? undefined
    : {
        code: "above_maximum",
        blocking: true,
        message: `coverageAmount is ${usdcText(actual)}; the maximum is ${usdcText(needed)}.`,
        field: "coverageAmount",
        ...compared(actual, needed),
      };

export const bondApprovalIssue = (operator: Address): Issue => ({
  code: "bond_approval",
  blocking: false,
  message: "The marketplace may not take the wallet's bonds: the approval step comes first.",
  operator,
});

export const transferIssue = (operator: Address): Issue => ({
  code: "transfer_not_allowed",
  blocking: true,
  message: "The bonds' owner does not let the marketplace move them.",
  operator,
});

export const unknownBondIssue = (epochId: bigint): Issue => ({
  code: "unknown_bond",
  blocking: true,
  message: `There are no bonds of ${epochId}.`,
  epochId: String(epochId),
});

/** Before `maturesAt`, Unix seconds. */
export const notMatureIssue = (maturesAt: bigint): Issue => ({
  code: "not_mature",
  blocking: true,
  message: `The bonds mature at ${isoTime(maturesAt)}.`,
  maturesAt: String(maturesAt),
});

/** From `maturesAt` on, Unix seconds. */
export const notListableIssue = (maturesAt: bigint): Issue => ({
  code: "not_listable",
  blocking: true,
  message: `The bonds matured at ${isoTime(maturesAt)}: the marketplace neither takes nor sells them since.`,
  maturesAt: String(maturesAt),
  listableFrom: "0",
  listableUntil: String(maturesAt - 1n),
});

export const pausedIssue = (scope: FieldOf<"paused">["scope"]): Issue => ({
  code: "paused",
  blocking: true,
  message:
    scope === "protocol"
      ? "The whole protocol is paused: nothing is sold."
      : "The cover router is paused: nothing is sold.",
  scope,
});

export const sequencerIssue: Issue = {
  code: "sequencer_down",
  blocking: true,
  message: "The chain's sequencer is down, or came back less than an hour ago.",
};

/** `updatedAt` in Unix seconds; 0 without a price. */
export const stalePriceIssue = (feed: Address, updatedAt: bigint): Issue => ({
  code: "price_stale",
  blocking: true,
  message:
    updatedAt === 0n
      ? "The feed has no price."
      : `The price is of ${isoTime(updatedAt)}: older than an hour.`,
  feed,
  updatedAt: String(updatedAt),
});

/** The price oracle fails or has no price. */
export const noTokenPriceIssue = (oracle: Address): Issue => ({
  ...stalePriceIssue(oracle, 0n),
  message: "The token's price oracle has no price now.",
});

/** The week of a queued redemption, after the block's; null where nothing is queued. */
const queuedFor = (week: bigint) => ({
  targetEpoch: String(week + 1n),
  payableFrom: String((week + 1n) * WEEK_SECONDS),
});
const notQueued = { targetEpoch: null, payableFrom: null };

/** Tokens with 18 decimals; `week` is the block's. The vault queues the redemption, unless the queue is full. */
export const throttledIssue = (week: bigint, left: bigint, needed: bigint, isQueueFull: boolean): Issue => ({
  code: "throttled",
  blocking: isQueueFull,
  message: isQueueFull
    ? "This week's throttle leaves too little, and the next week's queue is full."
    : `This week's throttle leaves too little: the redemption would be queued. Its bonds are burned, and the week from ${isoTime((week + 1n) * WEEK_SECONDS)} on pays it only if it fits into that week's cap.`,
  ...(isQueueFull ? notQueued : queuedFor(week)),
  ...compared(left, needed),
});

/** The wallet has redeemed or queued its share of the week. Tokens with 18 decimals. */
export const shareUsedIssue = (week: bigint, left: bigint, needed: bigint): Issue => ({
  code: "throttled",
  blocking: true,
  message: `The wallet's share of this week's throttle leaves too little, and nothing would be queued. The next week begins at ${isoTime((week + 1n) * WEEK_SECONDS)}.`,
  ...notQueued,
  ...compared(left, needed),
});

export const listingClosedIssue = (listingId: bigint): Issue => ({
  code: "listing_closed",
  blocking: true,
  message: `Listing ${listingId} was sold or cancelled.`,
  listingId: String(listingId),
});

export const nothingToWithdrawIssue: Issue = {
  code: "nothing_to_withdraw",
  blocking: true,
  message: "No sale has credited the wallet with USDC that it has not withdrawn.",
};

export const notSellerIssue = (seller: Address): Issue => ({
  code: "not_seller",
  blocking: true,
  message: `Only the seller ${seller} can cancel the listing.`,
  seller,
});

export const finalizedIssue: Issue = {
  code: "already_finalized",
  blocking: true,
  message: "The policy was paid.",
  status: "Triggered",
};

/** Unix seconds. */
export const expiredIssue = (expiresAt: bigint): Issue => ({
  code: "expired",
  blocking: true,
  message: `The policy could be triggered until ${isoTime(expiresAt)}.`,
  expiresAt: String(expiresAt),
});

/** Prices in USD with 18 decimals. */
export const notTriggeredIssue = (reached: { price: bigint; triggerPrice: bigint }): Issue => ({
  code: "not_triggered",
  blocking: true,
  message: `The price, ${priceText(reached.price)}, is above the trigger price, ${priceText(reached.triggerPrice)}.`,
  price: String(reached.price),
  triggerPrice: String(reached.triggerPrice),
});

/** `from` in Unix seconds. */
export const tooEarlyIssue = (from: bigint): Issue => ({
  code: "too_early",
  blocking: true,
  message: `The next observation is possible from ${isoTime(from)} on.`,
  from: String(from),
});

export const closedKeeperIssue: Issue = {
  code: "keeper_closed",
  blocking: true,
  message:
    "No keeper contract can settle the policy now: there is none, it is paused, or the policy's adapter does not allow it, or is not the product's present one.",
};

/** `reason`: the contracts' text. */
export const unsettledIssue = (reason: string): Issue => ({
  code: "not_settleable",
  blocking: true,
  message:
    reason === "NOT_SETTLEABLE_YET"
      ? "The feed's newest round is observed already: the next observation needs a newer one."
      : `The contracts refuse it: ${reason}.`,
  reason,
});

export const unknownTermsIssue: Issue = {
  code: "not_settleable",
  blocking: true,
  message: "The service does not know the product's trigger price.",
  reason: "unknown trigger price",
};

export const productInactiveIssue: Issue = {
  code: "product_inactive",
  blocking: true,
  message: "The product is not sold.",
};

/** The issue of a feed's price that the contracts would refuse at the block's time; undefined for a fresh one. */
export const freshPriceIssue = (
  feed: Address,
  price: { readonly price: bigint; readonly updatedAt: bigint } | null,
  { timestamp }: ChainHead,
): Issue | undefined => {
  if (price === null || price.price <= 0n) return stalePriceIssue(feed, 0n);
  return timestamp <= price.updatedAt + BigInt(MAX_PRICE_AGE)
    ? undefined
    : stalePriceIssue(feed, price.updatedAt);
};
