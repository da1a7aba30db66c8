import { type Address, erc20Abi, type Hex } from "viem";
import { bondVaultAbi } from "../../../abis/BondVault.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { BASIS_POINTS, unused, weekCap, weekOf } from "../../../lib/vault-units.ts";
import { readTokenPrice, type TokenPrice } from "./token-price.ts";

/** The state on which a redemption at a block depends. Dollars, tokens and prices have 18 decimals. */
export type RedemptionTerms = {
  readonly tokenPrice: TokenPrice;
  /** Below it the vault redeems nothing. */
  readonly minimumPrice: bigint;
  /** Tokens that back the bonds. */
  readonly reserve: bigint;
  /** The week of the block, floor(Unix seconds / 7 days). */
  readonly week: bigint;
  /** Dollars that the week's cap leaves to everybody, and to the wallet; 0 without a price. */
  readonly left: bigint;
  readonly leftForWallet: bigint;
  /** The next week's queue takes no more. */
  readonly isQueueFull: boolean;
};

/** Reads what a wallet's redemption at a block depends on. Rejects when the node does not answer. */
export async function readRedemptionTerms(
  chain: ReadClient,
  contracts: Contracts,
  wallet: Address,
  { number: blockNumber, timestamp }: { readonly number: bigint; readonly timestamp: bigint },
): Promise<RedemptionTerms> {
  const { bondVault, protocolToken } = contracts;
  const vault = { address: bondVault, abi: bondVaultAbi, blockNumber } as const;
  const token = { address: protocolToken, abi: erc20Abi, blockNumber } as const;
  const week = weekOf(timestamp);
  const [tokenPrice, minimumPrice, reserve, capBps, shareBps, redeemed, byWallet, queued, mostQueued] =
    await Promise.all([
      readTokenPrice(chain, contracts, blockNumber),
      chain.readContract({ ...vault, functionName: "MIN_REDEEM_PRICE" }),
      chain.readContract({ ...token, functionName: "balanceOf", args: [bondVault] }),
      chain.readContract({ ...vault, functionName: "MAX_REDEMPTION_PER_EPOCH_BPS" }),
      chain.readContract({ ...vault, functionName: "MAX_USER_REDEEM_BPS" }),
      chain.readContract({ ...vault, functionName: "redeemedInEpoch", args: [week] }),
      chain.readContract({ ...vault, functionName: "redeemedByUserInEpoch", args: [week, wallet] }),
      chain.readContract({ ...vault, functionName: "queueLength", args: [week + 1n] }),
      chain.readContract({ ...vault, functionName: "MAX_QUEUE_PER_EPOCH" }),
    ]);
  const cap = weekCap(reserve, tokenPrice.price ?? 0n, BigInt(capBps));
  return {
    tokenPrice,
    minimumPrice,
    reserve,
    week,
    left: unused(cap, redeemed),
    leftForWallet: unused((cap * BigInt(shareBps)) / BASIS_POINTS, byWallet),
    isQueueFull: queued >= mostQueued,
  };
}

/** The reverts of a vault that redeems nothing at the token's price. */
const PRICE_REVERTS: readonly string[] = ["ORACLE_UNAVAILABLE", "Price too low"];

/**
 * Whether the vault refuses a wallet's redemption for the token's price: at exactly its minimum V5.4 does, and the specification does
 * not. Rejects when the node does not answer.
 */
export async function refusesPrice(
  chain: ReadClient,
  { bondVault: to }: Contracts,
  account: Address,
  data: Hex,
  blockNumber: bigint,
): Promise<boolean> {
  try {
    await chain.call({ account, to, data, blockNumber });
    return false;
  } catch (error) {
    const revert = findRevert(error);
    if (!revert) throw error;
    return PRICE_REVERTS.includes(revert.name);
  }
}
