import type { Address } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { coverRouterAbi } from "../../abis/CoverRouter.ts";
import { findRevert, type Revert } from "../../lib/chain/reverts.ts";
import type { CallRequest } from "../../lib/chain/simulate-calls.ts";
import type { PurchaseRequest } from "../../lib/ledger/purchase.ts";
import type { Chain } from "./chain.ts";
import type { SimulatedPurchase, SimulatedRound } from "./simulate-round.ts";

export type OneByOneOptions = {
  chain: Chain;
  coverRouter: Address;
  bondVault: Address;
  /** Gas that is enough for the call in the latest state. Rejects with the contract's revert. */
  estimateGas: (call: CallRequest) => Promise<bigint>;
};

/** The vault's revert for a payout above its capacity. */
const EXCEEDS_CAPACITY: Revert = { name: "Exceeds capacity", text: "Exceeds capacity", data: "0x" };

/**
 * For a node that cannot simulate a sequence: each purchase alone, and its payout against the capacity that those before it
 * leave. Rejects when the node does not answer.
 */
export async function simulateOneByOne(
  options: OneByOneOptions,
  requests: readonly PurchaseRequest[],
  callOf: (request: PurchaseRequest) => CallRequest,
): Promise<SimulatedRound> {
  // Read first: a purchase that is mined meanwhile counts as in flight too, and the round waits for the next block.
  const head = await options.chain.block("latest");
  if (!head) throw new Error("the node has no latest block");
  const [capacity, quotes] = await Promise.all([
    readCapacity(options, head.number),
    Promise.all(requests.map((request) => quote(options, request, callOf(request)))),
  ]);
  let capacityLeft = capacity;
  const purchases = quotes.map((purchase): SimulatedPurchase => {
    if (purchase.kind !== "buys") return purchase;
    if (purchase.payout > capacityLeft) return { kind: "reverts", revert: EXCEEDS_CAPACITY };
    capacityLeft -= purchase.payout;
    return purchase;
  });
  return { block: head.number, capacityLeft, purchases };
}

/** Nothing where the vault has no price: then no purchase succeeds either. */
async function readCapacity({ chain, bondVault }: OneByOneOptions, blockNumber: bigint): Promise<bigint> {
  const capacity = { address: bondVault, abi: bondVaultAbi, functionName: "availableCapacityUSD" } as const;
  return chain.client.readContract({ ...capacity, blockNumber }).catch((error: unknown) => {
    if (findRevert(error)) return 0n;
    throw error;
  });
}

async function quote(
  { chain, coverRouter, estimateGas }: OneByOneOptions,
  { productId, coverageAmount }: PurchaseRequest,
  call: CallRequest,
): Promise<SimulatedPurchase> {
  try {
    const gas = await estimateGas(call);
    // Read last, so that it is no older than the simulation.
    const [premium, payout] = await chain.client.readContract({
      address: coverRouter,
      abi: coverRouterAbi,
      functionName: "quotePremium",
      args: [productId, coverageAmount],
    });
    return { kind: "buys", gas, premium, payout };
  } catch (error) {
    const revert = findRevert(error);
    return revert ? { kind: "reverts", revert } : { kind: "unknown", fault: error };
  }
}
