import { type Address, type Hex, zeroAddress } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/**
 * A product's terms in the contracts. Ratios and price falls are basis points, the premium is in millionths of the
 * coverage, durations are seconds; `shield` is the adapter, checksummed.
 */
export type ProductTerms = {
  productId: Hex;
  shield: Address;
  asset: Hex;
  payoutRatioBps: number;
  triggerProbBps: number;
  marginBps: number;
  triggerDropBps: number;
  premiumPpm: number;
  durationSeconds: number;
  /** Registered, configured, and not deactivated. */
  active: boolean;
};

/**
 * Reads one product's terms at a block, by default the newest; undefined when the router does not know the id. Rejects
 * when the node does not answer.
 */
export async function readProduct(
  chain: ReadClient,
  contracts: Contracts,
  productId: Hex,
  blockNumber?: bigint,
): Promise<ProductTerms | undefined> {
  const at = { args: [productId], ...atBlock(blockNumber) } as const;
  const [config, active] = await Promise.all([
    chain.readContract({
      address: contracts.coverRouter,
      abi: coverRouterAbi,
      functionName: "getProductConfig",
      ...at,
    }),
    chain.readContract({
      address: contracts.policyManager,
      abi: policyManagerAbi,
      functionName: "productActive",
      ...at,
    }),
  ]);
  if (config.shield === zeroAddress) return undefined;
  return { productId, ...config, active: config.active && active };
}

/** Every product of the router's list, active or not, in its order. Rejects when the node does not answer. */
export async function readProducts(chain: ReadClient, contracts: Contracts): Promise<ProductTerms[]> {
  const router = { address: contracts.coverRouter, abi: coverRouterAbi } as const;
  const count = await chain.readContract({ ...router, functionName: "getProductCount" });
  const ids = await Promise.all(
    Array.from({ length: Number(count) }, (_, index) =>
      chain.readContract({ ...router, functionName: "productList", args: [BigInt(index)] }),
    ),
  );
  const products = await Promise.all(ids.map((id) => readProduct(chain, contracts, id)));
  return products.filter((product) => product !== undefined);
}
