import { type Address, type Hex, zeroAddress, zeroHash } from "viem";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { policyManagerAbi } from "../../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { type CatalogueEntry, isSameProduct } from "../../../lib/products.ts";

/** The contracts of a chain, and what they have no getter for. */
export type Protocol = { readonly contracts: Contracts; readonly catalogue: readonly CatalogueEntry[] };

/** A product's terms. Ratios and price falls are basis points, durations are seconds. */
export type ProductTerms = {
  productId: Hex;
  /** The adapter, checksummed; zero for a product that the policy manager does not know. */
  shield: Address;
  /** Zero for a product that neither the catalogue nor the policy manager knows. */
  asset: Hex;
  /** Null outside the catalogue. */
  name: string | null;
  /** Null outside the catalogue. */
  triggerDropBps: number | null;
  payoutRatioBps: number;
  triggerProbBps: number;
  marginBps: number;
  durationSeconds: number;
  /** Whether it can be bought: the router and the policy manager have it active. */
  active: boolean;
};

/** The asset that an adapter's shield covers. */
async function readAsset(chain: ReadClient, adapter: Address, blockNumber: bigint | undefined): Promise<Hex> {
  if (adapter === zeroAddress) return zeroHash;
  const at = atBlock(blockNumber);
  const shield = await chain.readContract({
    ...{ address: adapter, abi: shieldAdapterAbi, functionName: "shield" },
    ...at,
  });
  return chain.readContract({ address: shield, abi: flashShieldAbi, functionName: "asset", ...at });
}

/**
 * Reads one product's terms at a block, by default the newest; undefined when the router does not know the id. Rejects
 * when the node does not answer.
 */
export async function readProduct(
  chain: ReadClient,
  { contracts, catalogue }: Protocol,
  productId: Hex,
  blockNumber?: bigint,
): Promise<ProductTerms | undefined> {
  const at = { args: [productId], ...atBlock(blockNumber) } as const;
  const manager = { address: contracts.policyManager, abi: policyManagerAbi, ...at } as const;
  const [config, shield, isActive] = await Promise.all([
    chain.readContract({
      address: contracts.coverRouter,
      abi: coverRouterAbi,
      functionName: "getProductConfig",
      ...at,
    }),
    chain.readContract({ ...manager, functionName: "productShield" }),
    chain.readContract({ ...manager, functionName: "productActive" }),
  ]);
  if (config.productId === zeroHash) return undefined;
  const entry = catalogue.find(isSameProduct(productId));
  return {
    productId,
    shield,
    asset: entry?.asset ?? (await readAsset(chain, shield, blockNumber)),
    name: entry?.name ?? null,
    triggerDropBps: entry?.triggerDropBps ?? null,
    payoutRatioBps: Number(config.payoutRatioBps),
    triggerProbBps: Number(config.triggerProbBps),
    marginBps: Number(config.marginBps),
    durationSeconds: config.durationSeconds,
    active: config.active && isActive && shield !== zeroAddress,
  };
}

/** Every product of the router's list, active or not, in its order. Rejects when the node does not answer. */
export async function readProducts(chain: ReadClient, protocol: Protocol): Promise<ProductTerms[]> {
  const router = { address: protocol.contracts.coverRouter, abi: coverRouterAbi } as const;
  const count = await chain.readContract({ ...router, functionName: "getProductCount" });
  const ids = await Promise.all(
    Array.from({ length: Number(count) }, (_, index) =>
      chain.readContract({ ...router, functionName: "productList", args: [BigInt(index)] }),
    ),
  );
  const products = await Promise.all(ids.map((id) => readProduct(chain, protocol, id)));
  return products.filter((product) => product !== undefined);
}
