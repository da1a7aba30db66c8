import type { Address, Hex } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { coverRouterAbi } from "../../../abis/CoverRouter.ts";
import { globalPauseRegistryAbi } from "../../../abis/GlobalPauseRegistry.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/**
 * The vault's free capacity for payouts at a block, by default the newest; USDC with 6 decimals. Rejects when the node does not
 * answer.
 */
export const readCapacity = (
  chain: ReadClient,
  contracts: Contracts,
  blockNumber?: bigint,
): Promise<bigint> =>
  chain.readContract({
    address: contracts.bondVault,
    abi: bondVaultAbi,
    functionName: "availableCapacityUSD",
    ...atBlock(blockNumber),
  });

/**
 * The vault's price of the protocol token for redemptions, USD with 18 decimals. Rejects when its feed is stale or too low,
 * or the node does not answer.
 */
export async function readRedemptionPrice(chain: ReadClient, contracts: Contracts): Promise<bigint> {
  const [, price] = await chain.readContract({
    address: contracts.bondVault,
    abi: bondVaultAbi,
    functionName: "previewRedemption",
    args: [0n],
  });
  return price;
}

/** The pauses that stop sales; the global one also stops triggers and redemptions. */
export type Pauses = { readonly routerPaused: boolean; readonly globallyPaused: boolean };

/** Reads the pauses at a block, by default the newest. Rejects when the node does not answer. */
export async function readPauses(
  chain: ReadClient,
  { coverRouter, pauseRegistry }: Contracts,
  blockNumber?: bigint,
): Promise<Pauses> {
  const [routerPaused, globallyPaused] = await Promise.all([
    chain.readContract({
      address: coverRouter,
      abi: coverRouterAbi,
      functionName: "paused",
      ...atBlock(blockNumber),
    }),
    chain.readContract({
      address: pauseRegistry,
      abi: globalPauseRegistryAbi,
      functionName: "isGloballyPaused",
      ...atBlock(blockNumber),
    }),
  ]);
  return { routerPaused, globallyPaused };
}

/** Whether the chain's sequencer is up, and has been for an hour, at a block. Rejects when the node does not answer. */
export const readSequencerActive = (
  chain: ReadClient,
  { coverRouter }: Contracts,
  blockNumber: bigint,
): Promise<boolean> =>
  chain.readContract({
    address: coverRouter,
    abi: coverRouterAbi,
    functionName: "isSequencerActive",
    blockNumber,
  });

/** Premium and payout for a coverage, computed by the router at a block; all 6 decimals. Rejects for an unknown product. */
export async function readQuote(
  chain: ReadClient,
  contracts: Contracts,
  { productId, coverage }: { productId: Hex; coverage: bigint },
  blockNumber: bigint,
): Promise<{ premium: bigint; payout: bigint }> {
  const [premium, payout] = await chain.readContract({
    address: contracts.coverRouter,
    abi: coverRouterAbi,
    functionName: "quotePremium",
    args: [productId, coverage],
    blockNumber,
  });
  return { premium, payout };
}

/** Whether the protocol sells cover now; `capacity` is the vault's free capacity for payouts (6 decimals). */
export type SellingState = Pauses & {
  relayers: { address: Address; authorized: boolean }[];
  capacity: bigint;
};

/** Reads the state for these relayers in one request to the node. Rejects when the node does not answer. */
export async function readSellingState(
  chain: ReadClient,
  contracts: Contracts,
  relayers: readonly Address[],
): Promise<SellingState> {
  const router = { address: contracts.coverRouter, abi: coverRouterAbi } as const;
  const [authorized, pauses, capacity] = await Promise.all([
    Promise.all(
      relayers.map(async (address) => ({
        address,
        authorized: await chain.readContract({
          ...router,
          functionName: "authorizedRelayers",
          args: [address],
        }),
      })),
    ),
    readPauses(chain, contracts),
    readCapacity(chain, contracts),
  ]);
  return { relayers: authorized, ...pauses, capacity };
}
