import { getAddress } from "viem";
import type { AsOf } from "./block.ts";
import type { ChainPolicy } from "./contracts/policy.ts";
import type { PolicyBody } from "./policy-schemas.ts";
import { policyStatus } from "./policy-status.ts";

/** A policy from the index or the contracts, with its product's name. */
export type PolicyRecord = ChainPolicy & { productName: string | null; productActive: boolean };

/** A policy as the API specification defines it, with its status at the time of the block. */
export function policyBody(policy: PolicyRecord, asOf: AsOf): PolicyBody {
  const triggered = policy.triggeredAt !== null;
  const status = policyStatus({ ...policy, triggered }, asOf.timestamp);
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
    triggered,
    expired: status === "Expired",
    productName: policy.productName,
    purchasedAt: String(policy.createdAt),
    waitingEndsAt: policy.waitingEndsAt === null ? null : String(policy.waitingEndsAt),
    productActive: policy.productActive,
    priceSnapshot: String(policy.priceSnapshot),
    triggeredAt: policy.triggeredAt === null ? null : String(policy.triggeredAt),
    bondId: policy.bondEpochId === null ? null : String(policy.bondEpochId),
    source: asOf.source,
    asOfBlock: String(asOf.number),
  };
}
