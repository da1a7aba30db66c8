import { erc20Abi } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import { priceFeedAbi } from "../../../abis/PriceFeed.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";

/** The protocol's own figures at a block. */
export type ProtocolState = {
  /** The feed's newest price of the protocol token in USD, 18 decimals, of any age; 0 when the feed has none. */
  readonly tokenPrice: bigint;
  /** When the feed was last updated, Unix seconds. */
  readonly priceUpdatedAt: bigint;
  /** Tokens that back the bonds, 18 decimals. */
  readonly reserve: bigint;
  /** Payouts reserved for open policies, and bonds not redeemed yet; USDC, 6 decimals. */
  readonly committed: bigint;
  /** The vault's free capacity for payouts, 6 decimals. */
  readonly capacity: bigint;
  /** Supply of the protocol token, 18 decimals. */
  readonly totalSupply: bigint;
};

/** A whole dollar in USDC. */
const DOLLAR = 1_000_000n;
/** Decimals of prices in this API. */
const PRICE_DECIMALS = 18n;

/** A feed's answer with its own decimals as a price with 18; what is not above zero is no price, as for the vault. */
function toPrice(answer: bigint, decimals: bigint): bigint {
  if (answer <= 0n) return 0n;
  return decimals <= PRICE_DECIMALS
    ? answer * 10n ** (PRICE_DECIMALS - decimals)
    : answer / 10n ** (decimals - PRICE_DECIMALS);
}

/** Reads the figures at one block in one request to the node. Rejects when the node does not answer or lacks the block. */
export async function readProtocolState(
  chain: ReadClient,
  contracts: Contracts,
  blockNumber: bigint,
): Promise<ProtocolState> {
  const feed = { address: contracts.tokenUsdFeed, abi: priceFeedAbi, blockNumber } as const;
  const vault = { address: contracts.bondVault, abi: bondVaultAbi, blockNumber } as const;
  const token = { address: contracts.protocolToken, abi: erc20Abi, blockNumber } as const;
  const [round, decimals, reserve, reserved, obligations, capacity, totalSupply] = await Promise.all([
    chain.readContract({ ...feed, functionName: "latestRoundData" }),
    chain.readContract({ ...feed, functionName: "decimals" }),
    chain.readContract({ ...vault, functionName: "reserve" }),
    chain.readContract({ ...vault, functionName: "totalReserved" }),
    chain.readContract({ ...vault, functionName: "obligations" }),
    chain.readContract({ ...vault, functionName: "availableCapacityUSD" }),
    chain.readContract({ ...token, functionName: "totalSupply" }),
  ]);
  const [, answer, , priceUpdatedAt] = round;
  return {
    tokenPrice: toPrice(answer, BigInt(decimals)),
    priceUpdatedAt,
    reserve,
    committed: reserved + obligations * DOLLAR,
    capacity,
    totalSupply,
  };
}
