/** Finds the aggregators behind the deployment's price feeds and its sequencer feed. */
import type { Address } from "viem";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import {
  isRefusal,
  phaseAggregators,
  phaseAt,
  phaseStarts,
  type Range,
} from "../../lib/chain/feed-phases.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { sequencerStatusAt } from "../../lib/chain/sequencer-status.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { type AssetSymbol, assetBytes32 } from "../../lib/products.ts";
import type { IndexedFeeds, IndexedPriceFeed } from "../../src/shared/price-feeds.ts";

const FEED_DECIMALS = 8;

/**
 * A block at least an hour before `startBlock`, and at most twice as far back as needed: the first policies may be sold at
 * a price of that hour.
 */
async function blockBefore(client: ReadClient, startBlock: bigint): Promise<bigint> {
  const { timestamp } = await client.getBlock({ blockNumber: startBlock });
  for (let back = 1n; back < startBlock; back *= 2n) {
    const block = await client.getBlock({ blockNumber: startBlock - back });
    if (block.timestamp <= timestamp - BigInt(MAX_PRICE_AGE)) return block.number;
  }
  return 0n;
}

async function findPriceFeed(
  client: ReadClient,
  [symbol, proxy]: readonly [AssetSymbol, Address],
  range: Range,
  warn: (what: string) => void,
): Promise<IndexedPriceFeed> {
  const decimals = await client
    .readContract({ address: proxy, abi: priceFeedAbi, functionName: "decimals" })
    .catch((error: unknown) => {
      if (findRevert(error)) return FEED_DECIMALS;
      throw error;
    });
  if (decimals !== FEED_DECIMALS)
    throw new ConfigError([`the ${symbol} feed ${proxy} has ${decimals} decimals, not 8`]);
  const found = await phaseAggregators(client, proxy);
  const isProxy = found.every(({ phase }) => phase > 0);
  const starts = isProxy ? await phaseStarts(client, proxy, found, range, warn) : [Number(range.firstBlock)];
  const phases = found.map((known, index) => ({ ...known, since: starts[index] ?? null }));
  return { asset: assetBytes32(symbol), proxy, phases };
}

/** The sequencer's status before a block; null when feed or node cannot tell. */
async function statusBefore(
  client: ReadClient,
  address: Address,
  firstBlock: bigint,
): Promise<IndexedFeeds["sequencer"]["before"]> {
  const { timestamp } = await client.getBlock({ blockNumber: firstBlock });
  let status = await sequencerStatusAt(client, address);
  // Without a change since then no old state is needed.
  if (status && status.startedAt > timestamp) {
    status = await sequencerStatusAt(client, address, firstBlock).catch((error: unknown) => {
      if (isRefusal(error)) return undefined;
      throw error;
    });
  }
  if (!status || status.startedAt > timestamp) return null;
  return { up: status.up, startedAt: String(status.startedAt) };
}

/**
 * Reads the feeds' aggregators for an index that begins at `startBlock`. `warn` gets a sentence where the node cannot tell
 * when a phase began.
 * @throws when the node does not answer; {@link ConfigError} for a price feed without 8 decimals
 */
export async function findFeeds(
  client: ReadClient,
  { btcUsdFeed, ethUsdFeed, sequencerFeed }: Contracts,
  startBlock: number,
  warn: (what: string) => void,
): Promise<IndexedFeeds> {
  const head = await client.getBlockNumber();
  const firstBlock = await blockBefore(client, BigInt(startBlock) < head ? BigInt(startBlock) : head);
  const symbols = [
    ["BTC", btcUsdFeed],
    ["ETH", ethUsdFeed],
  ] as const;
  const [prices, statuses, before] = await Promise.all([
    Promise.all(symbols.map((feed) => findPriceFeed(client, feed, { firstBlock, head }, warn))),
    phaseAggregators(client, sequencerFeed),
    statusBefore(client, sequencerFeed, firstBlock),
  ]);
  const aggregators = statuses.map(({ aggregator }) => aggregator);
  return { firstBlock: Number(firstBlock), prices, sequencer: { aggregators, before } };
}

/** Between two looks at the proxies, in ms: three small calls in one request. */
const WATCH_EVERY_MS = 10_000;

/** Calls `onNewPhase` once a feed answers from a phase that is not listed. A failed look is repeated later. */
export function watchPhases(
  client: ReadClient,
  { sequencerFeed }: Contracts,
  { prices, sequencer }: IndexedFeeds,
  onNewPhase: (feed: Address, phase: number) => void,
): void {
  const listed = new Map<Address, number>([
    ...prices.map(({ proxy, phases }) => [proxy, phases.length] as const),
    [sequencerFeed, sequencer.aggregators.length],
  ]);
  const look = async ([feed, phases]: readonly [Address, number]) => {
    const phase = await phaseAt(client, feed).catch(() => undefined);
    if (phase !== undefined && phase > phases) onNewPhase(feed, phase);
  };
  setInterval(() => void Promise.all([...listed].map(look)), WATCH_EVERY_MS).unref();
}
