import { type Address, type Hex, zeroAddress } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import { findRevert, isEmptyAnswer } from "../../../lib/chain/reverts.ts";
import type { Contracts } from "../../../lib/deployments.ts";

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
  priceSnapshot: bigint;
  createdAt: bigint;
  expiresAt: bigint;
  triggeredAt: bigint | null;
  /** The bond's month, YYYYMM; null until triggered. */
  bondEpochId: bigint | null;
  /** The asset's price at purchase, USD with 18 decimals; null for a shield without these views. */
  strike: bigint | null;
  /** The highest price that triggers, 18 decimals; null as `strike`. */
  triggerPrice: bigint | null;
};

/** What a policy's shield stores of its prices. `adapter` is the product's shield. */
async function readTerms(
  chain: ReadClient,
  adapter: Address,
  policyId: bigint,
  blockNumber: bigint | undefined,
): Promise<Pick<ChainPolicy, "strike" | "triggerPrice">> {
  const at = { address: adapter, abi: shieldAdapterAbi, ...atBlock(blockNumber) } as const;
  const args = [policyId] as const;
  try {
    const [shield, triggerPrice] = await Promise.all([
      chain.readContract({ ...at, functionName: "shield" }),
      chain.readContract({ ...at, functionName: "triggerPrice", args }),
    ]);
    const window = { abi: flashShieldAbi, functionName: "windows", args, ...atBlock(blockNumber) } as const;
    const [strike] = await chain.readContract({ address: shield, ...window });
    return { strike, triggerPrice };
  } catch (error) {
    if (findRevert(error) || isEmptyAnswer(error)) return { strike: null, triggerPrice: null };
    throw error;
  }
}

/** Reads one policy at a block, by default the newest; undefined when there is none. Rejects when the node does not answer. */
export async function readPolicy(
  chain: ReadClient,
  contracts: Contracts,
  { productId, policyId }: PolicyKey,
  blockNumber?: bigint,
): Promise<ChainPolicy | undefined> {
  const manager = {
    address: contracts.policyManager,
    abi: policyManagerAbi,
    ...atBlock(blockNumber),
  } as const;
  const args = [productId, policyId] as const;
  const [policy, details] = await Promise.all([
    chain.readContract({ ...manager, functionName: "getPolicy", args }),
    chain.readContract({ ...manager, functionName: "policyDetails", args }),
  ]);
  if (policy.buyer === zeroAddress) return undefined;
  const terms = await readTerms(chain, policy.shield, policyId, blockNumber);
  const { shield, buyer, coverage, payout, premium, createdAt, expiresAt } = policy;
  return {
    productId,
    policyId,
    shield,
    buyer,
    coverage,
    payout,
    premium,
    priceSnapshot: details.priceSnapshot,
    createdAt,
    expiresAt,
    triggeredAt: policy.triggered ? details.triggeredAt : null,
    bondEpochId: policy.triggered ? details.bondEpochId : null,
    ...terms,
  };
}
