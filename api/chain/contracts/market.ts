import { type Address, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

const BASIS_POINTS = 10_000n;

/** A listing. Price and fee are USDC with 6 decimals, the amount is whole dollars. */
export type ChainListing = {
  readonly seller: Address;
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly price: bigint;
  readonly active: boolean;
  /** What the seller pays from the price, and the buyer on top of it. */
  readonly fee: bigint;
};

/** Reads a listing at a block; undefined when there never was one. Rejects when the node does not answer. */
export async function readListing(
  chain: ReadClient,
  { marketplace }: Contracts,
  listingId: bigint,
  blockNumber: bigint,
): Promise<ChainListing | undefined> {
  const market = { address: marketplace, abi: bondMarketplaceAbi, blockNumber } as const;
  const [[seller, epochId, amount, price, active], feeBps] = await Promise.all([
    chain.readContract({ ...market, functionName: "getListing", args: [listingId] }),
    chain.readContract({ ...market, functionName: "FEE_BPS" }),
  ]);
  if (seller === zeroAddress) return undefined;
  // Not by `calculateFees`, which reverts for the highest prices.
  return { seller, epochId, amount, price, active, fee: (price * feeBps) / BASIS_POINTS };
}

/** Whether the bonds let the marketplace move them between accounts at all. Rejects when the node does not answer. */
export const readCanTransfer = (
  chain: ReadClient,
  { claimBond, marketplace }: Contracts,
  blockNumber: bigint,
): Promise<boolean> =>
  chain.readContract({
    address: claimBond,
    abi: claimBondAbi,
    functionName: "operators",
    args: [marketplace],
    blockNumber,
  });

/**
 * A wallet's bonds of an epoch, in whole dollars, and whether it lets the marketplace move its bonds. `maturityDate` in Unix
 * seconds, null for an epoch without bonds.
 */
export type WalletBonds = {
  readonly balance: bigint;
  readonly maturityDate: bigint | null;
  readonly approved: boolean;
};

/** Reads a wallet's bonds at a block. Rejects when the node does not answer. */
export async function readWalletBonds(
  chain: ReadClient,
  { claimBond, marketplace }: Contracts,
  wallet: Address,
  epochId: bigint,
  blockNumber: bigint,
): Promise<WalletBonds> {
  const bond = { address: claimBond, abi: claimBondAbi, blockNumber } as const;
  const [balance, maturityDate, approved] = await Promise.all([
    chain.readContract({ ...bond, functionName: "balanceOf", args: [wallet, epochId] }),
    chain.readContract({ ...bond, functionName: "maturityDate", args: [epochId] }),
    chain.readContract({ ...bond, functionName: "isApprovedForAll", args: [wallet, marketplace] }),
  ]);
  return { balance, maturityDate: maturityDate === 0n ? null : maturityDate, approved };
}
