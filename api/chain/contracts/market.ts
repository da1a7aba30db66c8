import { type Address, zeroAddress } from "viem";
import { bondMarketplaceAbi } from "../../../abis/BondMarketplace.ts";
import { claimBondAbi } from "../../../abis/ClaimBond.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** A listing. Price and fees are USDC with 6 decimals, the amount is whole dollars. */
export type ChainListing = {
  readonly seller: Address;
  readonly epochId: bigint;
  readonly amount: bigint;
  readonly price: bigint;
  readonly active: boolean;
  /** Paid by the buyer on top of the price. */
  readonly buyerFee: bigint;
};

const marketOf = ({ marketplace }: Contracts, blockNumber: bigint) =>
  ({ address: marketplace, abi: bondMarketplaceAbi, blockNumber }) as const;

/** Reads a listing at a block; undefined when there never was one. Rejects when the node does not answer. */
export async function readListing(
  chain: ReadClient,
  contracts: Contracts,
  listingId: bigint,
  blockNumber: bigint,
): Promise<ChainListing | undefined> {
  const market = marketOf(contracts, blockNumber);
  const [[seller, epochId, amount, price, active], feeBps, whole] = await Promise.all([
    chain.readContract({ ...market, functionName: "getListing", args: [listingId] }),
    chain.readContract({ ...market, functionName: "BUYER_FEE_BPS" }),
    chain.readContract({ ...market, functionName: "BPS_DENOMINATOR" }),
  ]);
  if (seller === zeroAddress) return undefined;
  // Not by `calculateFees`, which reverts for the highest prices.
  return { seller, epochId, amount, price, active, buyerFee: (price * feeBps) / whole };
}

/** The marketplace's terms for a new listing: the lowest total price (USDC, 6 decimals), and what the seller pays of a price. */
export async function readListingTerms(
  chain: ReadClient,
  contracts: Contracts,
  blockNumber: bigint,
): Promise<{ minimumPrice: bigint; sellerFeeOf: (price: bigint) => bigint }> {
  const market = marketOf(contracts, blockNumber);
  const [minimumPrice, feeBps, whole] = await Promise.all([
    // Despite its name it is the floor of the total.
    chain.readContract({ ...market, functionName: "minPricePerUnit" }),
    chain.readContract({ ...market, functionName: "SELLER_FEE_BPS" }),
    chain.readContract({ ...market, functionName: "BPS_DENOMINATOR" }),
  ]);
  return { minimumPrice, sellerFeeOf: (price) => (price * feeBps) / whole };
}

/** USDC (6 decimals) that the wallet's sales have credited and that it has not withdrawn. Rejects when the node does not answer. */
export const readWithdrawable = (
  chain: ReadClient,
  contracts: Contracts,
  wallet: Address,
  blockNumber: bigint,
): Promise<bigint> =>
  chain.readContract({
    ...marketOf(contracts, blockNumber),
    functionName: "pendingWithdrawals",
    args: [wallet],
  });

/** The first second in which bonds of an epoch can be redeemed and no more be traded, Unix seconds; null without such bonds. */
export async function readMaturity(
  chain: ReadClient,
  { claimBond }: Contracts,
  epochId: bigint,
  blockNumber: bigint,
): Promise<bigint | null> {
  const bond = { address: claimBond, abi: claimBondAbi, blockNumber } as const;
  const maturityDate = await chain.readContract({ ...bond, functionName: "maturityDate", args: [epochId] });
  return maturityDate === 0n ? null : maturityDate;
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
    functionName: "authorizedOperators",
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
  contracts: Contracts,
  wallet: Address,
  epochId: bigint,
  blockNumber: bigint,
): Promise<WalletBonds> {
  const { claimBond, marketplace } = contracts;
  const bond = { address: claimBond, abi: claimBondAbi, blockNumber } as const;
  const [balance, maturityDate, approved] = await Promise.all([
    chain.readContract({ ...bond, functionName: "balanceOf", args: [wallet, epochId] }),
    readMaturity(chain, contracts, epochId, blockNumber),
    chain.readContract({ ...bond, functionName: "isApprovedForAll", args: [wallet, marketplace] }),
  ]);
  return { balance, maturityDate, approved };
}
