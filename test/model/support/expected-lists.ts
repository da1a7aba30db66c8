/** The expected rows of every list of the API, from the chain; newest first, unless noted. */
import { expect } from "vitest";
import { catalogueTerms } from "../../../scripts/local/protocol/terms.ts";
import * as sums from "../../src/support/expected-sums.ts";
import { burnPriceOf, type ChainEvent } from "../../src/support/logs.ts";
import type { Row } from "../../src/support/rows.ts";
import type * as views from "../../src/support/views.ts";
import { big, bondOf, type ChainState, checksummed, named, submitterOf } from "./chain-state.ts";

const text = (value: unknown) => (value === null || value === undefined ? null : String(value));
export const nameOf = (productId: unknown) =>
  catalogueTerms.find((terms) => terms.productId === productId)?.name ?? null;

/** The columns with an event's position. */
export const positionOf = ({ position }: ChainEvent) => ({
  txHash: position.tx_hash,
  blockNumber: position.block_number,
  logIndex: position.log_index,
});
const time = ({ position }: ChainEvent) => ({ blockTimestamp: position.block_timestamp });

export const newestFirst = (events: readonly ChainEvent[]) => [...events].reverse();

export function statusOf(policy: views.Policy, now: bigint): string {
  if (policy.triggered_at !== null) return "Triggered";
  return now > big(policy.expires_at) ? "Expired" : "Active";
}

/** The current status of each policy, in no order. */
export const statuses = ({ policies, now }: ChainState): readonly string[] =>
  policies.map((policy) => statusOf(policy, now));

/** Prices of a policy. Which ones are due is compared in a test of its own. */
function pricesOf(
  { prices }: ChainState,
  policy: views.Policy,
  status: string,
  source: "index" | "chain",
): Row {
  const round = prices.find(({ asset }) => asset === policy.asset);
  const price = big(round?.answer) * 10n ** 10n;
  const fall = (price - big(policy.trigger_price)) * 10_000n;
  const isOpen = status === "Active";
  return {
    strikePrice: policy.strike,
    triggerPrice: policy.trigger_price,
    currentPrice: String(price),
    currentPriceAt: round?.updated_at,
    distanceToTriggerBps: isOpen ? Number(fall / price) + (fall > 0n && fall % price > 0n ? 1 : 0) : null,
    due: isOpen && (source === "chain" ? null : expect.any(Boolean)),
    claim:
      isOpen && source === "index"
        ? expect.toSatisfy((claim: unknown) => claim === null || typeof claim === "object")
        : null,
  };
}

/** The policies of a buyer. */
export const policiesOf = (chainState: ChainState, buyer: string, source: "index" | "chain"): Row[] =>
  allPolicies(chainState, source).filter((row) => row.buyer === buyer);

export function allPolicies(chainState: ChainState, source: "index" | "chain"): Row[] {
  const { events, policies, products, now, block } = chainState;
  return newestFirst(named(events, "PolicyPurchased")).map((event) => {
    const { productId, policyId } = event.args;
    const buyer = checksummed(event.args.buyer);
    const policy = policies.find((p) => p.product_id === productId && p.policy_id === policyId);
    if (!policy) throw new Error(`the manager has no policy ${productId} ${policyId}`);
    const product = products.find((p) => p.product_id === productId);
    const status = statusOf(policy, now);
    return {
      productId,
      policyId,
      shield: checksummed(policy.shield),
      buyer,
      holder: buyer,
      coverageAmount: policy.coverage,
      payoutAmount: policy.payout,
      premiumPaid: policy.premium,
      createdAt: policy.created_at,
      expiresAt: policy.expires_at,
      status,
      triggered: status === "Triggered",
      expired: status === "Expired",
      productName: nameOf(productId),
      purchasedAt: policy.created_at,
      waitingEndsAt: null,
      // The index knows the manager's switch alone.
      productActive:
        product?.active === true && (source === "index" || chainState.activeAtRouter.has(productId)),
      // Only the index knows these.
      priceSnapshot: source === "index" ? policy.price_snapshot : "0",
      triggeredAt: source === "index" ? policy.triggered_at : null,
      bondId: source === "index" ? policy.bond_epoch_id : null,
      ...pricesOf(chainState, policy, status, source),
      source,
      asOfBlock: String(block),
      ...positionOf(event),
    };
  });
}

/** The positive balances, by ascending epoch. */
export function bondsOf({ balances, maturities, now }: ChainState, owner: string): Row[] {
  return balances
    .filter((held) => checksummed(held.owner) === owner && big(held.balance) > 0n)
    .sort((a, b) => (big(a.epoch_id) < big(b.epoch_id) ? -1 : 1))
    .map(({ epoch_id, balance }) => {
      const maturityDate = maturities.get(String(epoch_id)) ?? null;
      return {
        bondId: epoch_id,
        epochId: epoch_id,
        owner,
        amount: balance,
        faceValueUsd: balance,
        maturityDate,
        matured: maturityDate !== null && now >= big(maturityDate),
      };
    });
}

export function triggers({ events }: ChainState): Row[] {
  return newestFirst(named(events, "PolicyTriggered")).map((event) => ({
    productId: event.args.productId,
    productName: nameOf(event.args.productId),
    policyId: event.args.policyId,
    submitter: submitterOf(events, event),
    buyer: checksummed(event.args.buyer),
    bondId: text(bondOf(events, event)?.args.epochId),
    bondAmount: text(event.args.bondAmount),
    ...positionOf(event),
    ...time(event),
  }));
}

export function activeListings({ events, listings, maturities, now }: ChainState): Row[] {
  const active = listings.filter((listing) => listing.active === true);
  return newestFirst(named(events, "Listed"))
    .filter(({ args }) => active.some((listing) => listing.listing_id === args.listingId))
    .map((event) => {
      const { listingId, seller, epochId, amount, priceUSDC } = event.args;
      const maturityDate = maturities.get(String(epochId)) ?? null;
      return {
        listingId,
        sellerAddress: checksummed(seller),
        bondId: epochId,
        epochId,
        amount,
        totalPriceUsdc: priceUSDC,
        pricePerUnit: String(big(priceUSDC) / big(amount)),
        maturityDate,
        matured: maturityDate !== null && now >= big(maturityDate),
        status: "active",
        createdAt: event.position.block_timestamp,
        ...positionOf(event),
      };
    });
}

export function sales({ events, listings }: ChainState): Row[] {
  return newestFirst(named(events, "Bought")).map((event) => {
    const { listingId, buyer, seller, priceUSDC, sellerFee, buyerFee } = event.args;
    const listing = listings.find((other) => other.listing_id === listingId);
    if (!listing) throw new Error(`the marketplace has no listing ${listingId}`);
    return {
      listingId,
      buyer: checksummed(buyer),
      seller: checksummed(seller),
      bondId: listing.epoch_id,
      epochId: listing.epoch_id,
      amount: listing.amount,
      totalPriceUsdc: priceUSDC,
      pricePerUnit: String(big(priceUSDC) / big(listing.amount)),
      sellerFeeUsdc: sellerFee,
      buyerFeeUsdc: buyerFee,
      listedAt: listing.block_timestamp,
      soldAt: event.position.block_timestamp,
      ...positionOf(event),
    };
  });
}

export function burns({ events }: ChainState): Row[] {
  const executions = named(events, "BurnExecuted");
  return sums
    .burns(events)
    .reverse()
    .map(({ event, source, usdc }) => {
      const execution =
        source === "twap_burner"
          ? executions.find(({ position }) => position.tx_hash === event.position.tx_hash)
          : undefined;
      return {
        source,
        burner: checksummed(event.args.from),
        tokenBurned: event.args.value,
        usdcSpent: String(usdc),
        effectivePrice: execution ? String(burnPriceOf(execution.args.effectivePrice)) : null,
        ...positionOf(event),
        ...time(event),
      };
    });
}

export function activity({ events }: ChainState): Row[] {
  return sums
    .activities(events)
    .reverse()
    .map(({ block_hash, ...row }) => ({ ...row, actor: checksummed(row.actor) }));
}

/** Oldest first. */
export function prices({ events }: ChainState): Row[] {
  return named(events, "BurnExecuted").map((event) => ({
    timestamp: event.position.block_timestamp,
    price: String(burnPriceOf(event.args.effectivePrice)),
    token_burned: event.args.tokenBurned,
    usdc_spent: event.args.usdcSpent,
    source: "twap_burner",
    tx_hash: event.position.tx_hash,
    block_number: event.position.block_number,
    log_index: event.position.log_index,
  }));
}
