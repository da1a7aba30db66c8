import { getAddress, type Hex } from "viem";
import { policyStatus } from "../../lib/indexed/policy-status.ts";
import { decimalOrNull } from "../http/field-types.ts";
import type { Position } from "../http/paging.ts";
import type { AsOf } from "./block.ts";
import type { ChainPolicy, PolicyKey } from "./contracts/policy.ts";
import type { AssetPrice } from "./contracts/prices.ts";
import type { ProductTerms } from "./contracts/products.ts";
import type { PolicyBody } from "./policy-schemas.ts";

/** A policy from the index or the contracts, with its product's name and the state of its asset's price. */
export type PolicyRecord = ChainPolicy & {
  productName: string | null;
  productActive: boolean;
  /** The newest round of the asset's feed; null when unknown. */
  current: AssetPrice | null;
  /** Whether a call could observe the policy now, if it is open; null when only the contracts were read. */
  due: boolean | null;
  /** Whether a newer policy has its key; false if absent. */
  replaced?: boolean | undefined;
};

/** A policy from the contracts alone. */
export const policyRecord = (
  policy: ChainPolicy,
  product: ProductTerms | undefined,
  prices: ReadonlyMap<Hex | undefined, AssetPrice | null>,
): PolicyRecord => ({
  ...policy,
  productName: product?.name ?? null,
  productActive: product?.active === true,
  current: prices.get(product?.asset) ?? null,
  due: null,
});

const BASIS_POINTS = 10_000n;

/**
 * How far the price has to fall to the trigger, in basis points of the current price, rounded up: above zero exactly while
 * the price is above the trigger.
 */
export const distanceBps = (current: bigint, trigger: bigint): number => {
  const scaled = (current - trigger) * BASIS_POINTS;
  return Number(scaled > 0n ? (scaled + current - 1n) / current : scaled / current);
};

/** The call that prepares the claim of a due policy. */
export const claimOf = ({ productId, policyId }: PolicyKey): NonNullable<PolicyBody["claim"]> => ({
  method: "POST",
  path: "/api/v1/triggers/prepare",
  body: { productId, policyId: String(policyId) },
});

/** A policy as the API specification defines it, with its status at the time of the block. */
export function policyBody(policy: PolicyRecord, asOf: AsOf): PolicyBody {
  const status = policyStatus(policy, asOf.timestamp);
  const { strike, triggerPrice, current } = policy;
  const isOpen = status === "Active";
  const due = isOpen ? policy.due : false;
  return {
    productId: policy.productId,
    policyId: String(policy.policyId),
    shield: getAddress(policy.shield),
    buyer: getAddress(policy.buyer),
    // The payout's bond goes to the buyer, also when another account sent the purchase.
    holder: getAddress(policy.buyer),
    coverageAmount: String(policy.coverage),
    payoutAmount: String(policy.payout),
    premiumPaid: String(policy.premium),
    createdAt: String(policy.createdAt),
    expiresAt: String(policy.expiresAt),
    status,
    triggered: policy.triggered,
    expired: status === "Expired",
    productName: policy.productName,
    purchasedAt: String(policy.createdAt),
    waitingEndsAt: null,
    productActive: policy.productActive,
    priceSnapshot: String(policy.priceSnapshot),
    triggeredAt: decimalOrNull(policy.triggeredAt),
    bondId: decimalOrNull(policy.bondEpochId),
    strikePrice: decimalOrNull(strike),
    triggerPrice: decimalOrNull(triggerPrice),
    currentPrice: decimalOrNull(current?.price ?? null),
    currentPriceAt: decimalOrNull(current?.updatedAt ?? null),
    distanceToTriggerBps:
      isOpen && triggerPrice !== null && current !== null ? distanceBps(current.price, triggerPrice) : null,
    due,
    claim: due === true ? claimOf(policy) : null,
    source: asOf.source,
    asOfBlock: String(asOf.number),
  };
}

/** A policy in a list, with the position of its purchase. */
export const policyEntry = (policy: PolicyRecord, purchase: Position & { txHash: Hex }, asOf: AsOf) => ({
  ...policyBody(policy, asOf),
  txHash: purchase.txHash,
  blockNumber: String(purchase.blockNumber),
  logIndex: purchase.logIndex,
});
