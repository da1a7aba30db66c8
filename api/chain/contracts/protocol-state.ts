import { erc20Abi } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { usdcOfDollars, usdcOfVault } from "../../../lib/vault-units.ts";
import { readTokenPrice, type TokenPrice } from "./token-price.ts";

/** The protocol's own figures at a block. */
export type ProtocolState = {
  readonly tokenPrice: TokenPrice;
  /** Tokens that back the bonds, 18 decimals. */
  readonly reserve: bigint;
  /** Payouts reserved for open policies, bonds in circulation, and redemptions in the queue; USDC, 6 decimals. */
  readonly committed: bigint;
  /** The vault's free capacity for payouts, 6 decimals. While there is no price it is that at the lowest price for redemptions. */
  readonly capacity: bigint;
  /** Supply of the protocol token, 18 decimals. */
  readonly totalSupply: bigint;
};

/** Reads the figures at one block. Rejects when the node does not answer or lacks the block. */
export async function readProtocolState(
  chain: ReadClient,
  contracts: Contracts,
  blockNumber: bigint,
): Promise<ProtocolState> {
  const vault = { address: contracts.bondVault, abi: bondVaultAbi, blockNumber } as const;
  const token = { address: contracts.protocolToken, abi: erc20Abi, blockNumber } as const;
  const [tokenPrice, reserve, reserved, committed, queued, capacity, totalSupply] = await Promise.all([
    readTokenPrice(chain, contracts, blockNumber),
    chain.readContract({ ...token, functionName: "balanceOf", args: [contracts.bondVault] }),
    chain.readContract({ ...vault, functionName: "totalReservedUSD" }),
    chain.readContract({ ...vault, functionName: "totalCommittedUSD" }),
    chain.readContract({ ...vault, functionName: "totalQueuedUSD" }),
    chain.readContract({ ...vault, functionName: "availableCapacityUSD" }),
    chain.readContract({ ...token, functionName: "totalSupply" }),
  ]);
  return {
    tokenPrice,
    reserve,
    committed: usdcOfVault(reserved + committed + queued),
    capacity: usdcOfDollars(capacity),
    totalSupply,
  };
}

/**
 * The token's price by which the vault's views count at a block, 18 decimals: its oracle's, or its lowest price for redemptions while
 * the oracle has none. Rejects when the node does not answer or lacks the block.
 */
export async function readVaultPrice(
  chain: ReadClient,
  { bondVault }: Contracts,
  blockNumber: bigint,
): Promise<bigint> {
  const [, , , , price] = await chain.readContract({
    ...{ address: bondVault, abi: bondVaultAbi, functionName: "getStatus" },
    blockNumber,
  });
  return price;
}
