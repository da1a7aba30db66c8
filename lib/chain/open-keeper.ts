/** Whether anybody may observe and settle a policy by the keeper contract. */
import { type Address, isAddressEqual } from "viem";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import { shieldKeeperAbi } from "../../abis/ShieldKeeper.ts";
import type { Contracts } from "../deployments.ts";
import type { ReadClient } from "./client.ts";
import type { PolicyKey } from "./trigger.ts";

/**
 * The keeper contract, if it may settle a policy of this adapter in the state after a block; undefined where nobody can observe through
 * it. It knows a product's present adapter only. Rejects when the node does not answer, or an address is no contract of the protocol.
 */
export async function readOpenKeeper(
  client: ReadClient,
  { shieldKeeper, policyManager }: Pick<Contracts, "shieldKeeper" | "policyManager">,
  { productId, adapter }: Pick<PolicyKey, "productId"> & { readonly adapter: Address },
  blockNumber: bigint,
): Promise<Address | undefined> {
  if (shieldKeeper === undefined) return undefined;
  const [keeper, paused, present] = await Promise.all([
    client.readContract({ address: adapter, abi: shieldAdapterAbi, functionName: "keeper", blockNumber }),
    client.readContract({ address: shieldKeeper, abi: shieldKeeperAbi, functionName: "paused", blockNumber }),
    client.readContract({
      ...{ address: policyManager, abi: policyManagerAbi, blockNumber },
      ...{ functionName: "productShield", args: [productId] },
    }),
  ]);
  const isOpen = isAddressEqual(keeper, shieldKeeper) && isAddressEqual(present, adapter) && !paused;
  return isOpen ? shieldKeeper : undefined;
}
