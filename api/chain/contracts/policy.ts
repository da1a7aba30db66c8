import { type Address, type Hex, zeroAddress } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import { barrierOf, FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { isSameProduct } from "../../../lib/products.ts";
import type { Protocol } from "./products.ts";

/** The key of a policy: `policyId` counts per product. */
export type PolicyKey = { productId: Hex; policyId: bigint };

/**
 * A policy as the contracts hold it. Coverage, payout and premium have 6 decimals, the price snapshot 18; times are Unix
 * seconds.
 */
export type ChainPolicy = PolicyKey & {
  shield: Address;
  buyer: Address;
  coverage: bigint;
  payout: bigint;
  premium: bigint;
  /** 0 without the index. */
  priceSnapshot: bigint;
  createdAt: bigint;
  expiresAt: bigint;
  triggered: boolean;
  /** Null until triggered, and without the index. */
  triggeredAt: bigint | null;
  /** The bond's month, YYYYMM; null as `triggeredAt`. */
  bondEpochId: bigint | null;
  /** The asset's price at purchase, USD with 18 decimals; null when the index does not know it. */
  strike: bigint | null;
  /** The highest price that triggers, 18 decimals; null as `strike`, and for a product outside the catalogue. */
  triggerPrice: bigint | null;
};

/** The strike of a policy (8 decimals), from the shield behind its adapter. */
async function readStrike(
  chain: ReadClient,
  adapter: Address,
  policyId: bigint,
  blockNumber: bigint | undefined,
): Promise<bigint> {
  const at = atBlock(blockNumber);
  const shield = await chain.readContract({
    ...{ address: adapter, abi: shieldAdapterAbi, functionName: "shield" },
    ...at,
  });
  const [, , strike] = await chain.readContract({
    ...{ address: shield, abi: flashShieldAbi, functionName: "getPolicyInfo", args: [policyId] },
    ...at,
  });
  return strike;
}

/** Strike and trigger price of a product's policy (18 decimals), from its strike (8 decimals). */
export function pricesOf({ catalogue }: Pick<Protocol, "catalogue">, productId: Hex, strike: bigint) {
  const entry = catalogue.find(isSameProduct(productId));
  return {
    strike: strike * FEED_TO_PRICE,
    triggerPrice: entry ? barrierOf(strike, entry.triggerDropBps) * FEED_TO_PRICE : null,
  };
}

/** Reads one policy at a block, by default the newest; undefined when there is none. Rejects when the node does not answer. */
export async function readPolicy(
  chain: ReadClient,
  protocol: Protocol,
  { productId, policyId }: PolicyKey,
  blockNumber?: bigint,
): Promise<ChainPolicy | undefined> {
  const policy = await chain.readContract({
    address: protocol.contracts.policyManager,
    abi: policyManagerAbi,
    functionName: "getPolicy",
    args: [productId, policyId],
    ...atBlock(blockNumber),
  });
  if (policy.buyer === zeroAddress) return undefined;
  const strike = await readStrike(chain, policy.shield, policyId, blockNumber);
  const { shield, buyer, createdAt, expiresAt, triggered } = policy;
  return {
    productId,
    policyId,
    shield,
    buyer,
    coverage: policy.coverageAmount,
    payout: policy.payoutAmount,
    premium: policy.premiumPaid,
    priceSnapshot: 0n,
    createdAt,
    expiresAt,
    triggered,
    triggeredAt: null,
    bondEpochId: null,
    ...pricesOf(protocol, productId, strike),
  };
}
