/** The adapters with which products are sold now. */
import { type Address, type Hex, zeroAddress } from "viem";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import type { Contracts } from "../deployments.ts";
import type { ReadClient } from "./client.ts";

/** A product's registration with an adapter. */
export type Registration = { readonly productId: Hex; readonly adapter: Address };

/** The adapters with which the router's products, and those of `known`, are sold. Rejects when the node does not answer. */
export async function sellingAdapters(
  client: ReadClient,
  { coverRouter, policyManager }: Pick<Contracts, "coverRouter" | "policyManager">,
  known: readonly Hex[] = [],
): Promise<Registration[]> {
  const router = { address: coverRouter, abi: coverRouterAbi } as const;
  const count = Number(await client.readContract({ ...router, functionName: "getProductCount" }));
  const listed = await Promise.all(
    Array.from({ length: count }, (_, index) =>
      client.readContract({ ...router, functionName: "productList", args: [BigInt(index)] }),
    ),
  );
  const manager = { address: policyManager, abi: policyManagerAbi, functionName: "productShield" } as const;
  const adapters = await Promise.all(
    [...new Set([...listed, ...known])].map(async (productId) => ({
      productId,
      adapter: await client.readContract({ ...manager, args: [productId] }),
    })),
  );
  return adapters.filter(({ adapter }) => adapter !== zeroAddress);
}
