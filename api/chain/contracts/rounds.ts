/** Rounds of a price feed, read from the feed. */
import type { Address } from "viem";
import { flashShieldAbi } from "../../../abis/FlashShield.ts";
import { priceFeedAbi } from "../../../abis/PriceFeed.ts";
import { shieldAdapterAbi } from "../../../abis/ShieldAdapter.ts";
import type { ReadClient } from "../../../lib/chain/client.ts";
import { findRevert } from "../../../lib/chain/reverts.ts";
import { type AssetPrice, assetPrice } from "./prices.ts";

/** A round by the id that the feed gives it: `phase << 64 | the aggregator's round`. */
export type Round = AssetPrice & { readonly roundId: bigint };

/** The feed from which an adapter's shield reads. */
export async function readShieldFeed(
  chain: ReadClient,
  adapter: Address,
  blockNumber: bigint,
): Promise<Address> {
  const shield = await chain.readContract({
    address: adapter,
    abi: shieldAdapterAbi,
    functionName: "shield",
    blockNumber,
  });
  return chain.readContract({ address: shield, abi: flashShieldAbi, functionName: "priceFeed", blockNumber });
}

/** The id of a feed's newest round, and the round; null for one that no shield takes. */
export async function readNewestRound(
  chain: ReadClient,
  feed: Address,
  blockNumber: bigint,
): Promise<{ readonly roundId: bigint; readonly round: Round | null }> {
  const [roundId, answer, , updatedAt] = await chain.readContract({
    address: feed,
    abi: priceFeedAbi,
    functionName: "latestRoundData",
    blockNumber,
  });
  const price = assetPrice(answer, updatedAt);
  return { roundId, round: price && { roundId, ...price } };
}

/** One round; undefined for one that the feed lacks, or that no shield takes. Rejects when the node does not answer. */
async function readRound(
  chain: ReadClient,
  feed: Address,
  roundId: bigint,
  blockNumber: bigint,
): Promise<Round | undefined> {
  try {
    const [, answer, , updatedAt] = await chain.readContract({
      address: feed,
      abi: priceFeedAbi,
      functionName: "getRoundData",
      args: [roundId],
      blockNumber,
    });
    const price = assetPrice(answer, updatedAt);
    return price && updatedAt > 0n ? { roundId, ...price } : undefined;
  } catch (error) {
    if (findRevert(error)) return undefined;
    throw error;
  }
}

/** Those of these rounds that the feed has, and that a shield takes. */
export async function readRounds(
  chain: ReadClient,
  feed: Address,
  roundIds: readonly bigint[],
  blockNumber: bigint,
): Promise<Round[]> {
  const rounds = await Promise.all(roundIds.map((id) => readRound(chain, feed, id, blockNumber)));
  return rounds.filter((round) => round !== undefined);
}
