import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import { type SequencerStatus, sequencerStatusAt } from "../../lib/chain/sequencer-status.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { MAX_PRICE_AGE, SEQUENCER_GRACE } from "../../lib/price-rules.ts";
import type { AssetSymbol } from "../../lib/products.ts";

/** What a price is judged by, all of one block. Times are Unix seconds. */
export type PriceReading = {
  /** The feed's answer, with its decimals. */
  readonly price: bigint;
  readonly decimals: number;
  readonly updatedAt: bigint;
  readonly sequencer: SequencerStatus;
  readonly blockTime: bigint;
};

export type PriceFault = { readonly code: "oracle_stale" | "sequencer_down"; readonly message: string };

/** Reads an asset's feed and the sequencer's at the newest block. Rejects when the node does not answer, or a feed reverts. */
export async function readPrice(
  client: ReadClient,
  { btcUsdFeed, ethUsdFeed, sequencerFeed }: Contracts,
  asset: AssetSymbol,
): Promise<PriceReading> {
  const { number: blockNumber, timestamp } = await client.getBlock({ blockTag: "latest" });
  const feed = {
    address: asset === "BTC" ? btcUsdFeed : ethUsdFeed,
    abi: priceFeedAbi,
    blockNumber,
  } as const;
  const [[, price, , updatedAt], decimals, sequencer] = await Promise.all([
    client.readContract({ ...feed, functionName: "latestRoundData" }),
    client.readContract({ ...feed, functionName: "decimals" }),
    sequencerStatusAt(client, sequencerFeed, blockNumber),
  ]);
  if (!sequencer) throw new Error(`the sequencer's feed ${sequencerFeed} has no answer`);
  return { price, decimals, updatedAt, sequencer, blockTime: timestamp };
}

const timeText = (seconds: bigint) => new Date(Number(seconds) * 1000).toISOString();

/**
 * Why a price must not be signed, by the rules of the shields; undefined when it may be.
 * @param now the writer's clock, Unix seconds. The age counts by the later of both clocks: a node that no longer follows the
 *   chain has an old price in an old block.
 */
export function priceFault(reading: PriceReading, now: bigint): PriceFault | undefined {
  const { price, updatedAt, sequencer, blockTime } = reading;
  if (!sequencer.up || sequencer.startedAt === 0n) {
    return { code: "sequencer_down", message: "The chain's sequencer is down." };
  }
  if (blockTime <= sequencer.startedAt + BigInt(SEQUENCER_GRACE)) {
    const message = `The chain's sequencer is up since ${timeText(sequencer.startedAt)}, which is less than an hour.`;
    return { code: "sequencer_down", message };
  }
  if (price <= 0n) return { code: "oracle_stale", message: "The price feed has no price above zero." };
  const age = (now > blockTime ? now : blockTime) - updatedAt;
  if (age >= 0n && age <= MAX_PRICE_AGE) return undefined;
  const message = `The price feed's last answer is of ${timeText(updatedAt)}, which is not within the last hour.`;
  return { code: "oracle_stale", message };
}
