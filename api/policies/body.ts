import { getAddress, type Hex } from "viem";
import type { ChainPolicy } from "../chain/contracts/policy.ts";
import type { PolicyBody } from "./schemas.ts";
import { policyStatus } from "./status.ts";

/** A policy as index and contracts tell it, with what the index alone can tell: the name. */
export type PolicyRecord = ChainPolicy & { productName: string | null; productActive: boolean };

/** The block as of which something is told. */
export type AsOf = { source: "index" | "chain"; number: bigint; hash: Hex; timestamp: bigint };

/** A policy in the shape of the API specification, with its status at the time of the block. */
export function policyBody(policy: PolicyRecord, asOf: AsOf): PolicyBody {
  const triggered = policy.triggeredAt !== null;
  const status = policyStatus({ ...policy, triggered }, asOf.timestamp);
  return {
    productId: policy.productId,
    policyId: String(policy.policyId),
    shield: getAddress(policy.shield),
    buyer: getAddress(policy.buyer),
    // The payout's bond goes to the buyer, whoever the policy was bought by.
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
