/** Finds the aggregators behind the deployment's price feeds and its sequencer feed. */
import {
  type Address,
  BaseError,
  ContractFunctionZeroDataError,
  HttpRequestError,
  RpcRequestError,
} from "viem";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { priceFeedProxyAbi } from "../../abis/PriceFeedProxy.ts";
import { atBlock, type ReadClient } from "../../lib/chain/client.ts";
import { findRevert } from "../../lib/chain/reverts.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { type AssetSymbol, assetBytes32 } from "../../lib/products.ts";
import type { IndexedFeeds, IndexedPriceFeed } from "../../src/shared/price-feeds.ts";

/** A price may be an hour old when a policy is sold, so the first policies need the rounds of the hour before. */
const OLDEST_PRICE_SECONDS = 3600n;
const FEED_DECIMALS = 8;

/** The node answered, and refused: it lacks the old state, or does not serve so wide a range. */
const isRefusal = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk(
    (cause) =>
      cause instanceof RpcRequestError ||
      (cause instanceof HttpRequestError &&
        cause.status !== undefined &&
        cause.status >= 400 &&
        cause.status < 500 &&
        cause.status !== 429),
  ) !== null;

const isWithoutCode = (error: unknown): boolean =>
  error instanceof BaseError &&
  error.walk((cause) => cause instanceof ContractFunctionZeroDataError) !== null;

/** The newest phase of a proxy at a block, by default now; undefined for a feed that is no proxy. */
async function phaseAt(
  client: ReadClient,
  address: Address,
  blockNumber?: bigint,
): Promise<number | undefined> {
  try {
    const read = {
      address,
      abi: priceFeedProxyAbi,
      functionName: "phaseId",
      ...atBlock(blockNumber),
    } as const;
    return await client.readContract(read);
  } catch (error) {
    if (findRevert(error) === undefined) throw error;
    return undefined;
  }
}

/**
 * The first number above `low` and up to `high` for which `isPast` is true. It must be true for `high`, and for each
 * number after one for which it is true.
 */
export async function firstPast(
  low: bigint,
  high: bigint,
  isPast: (number: bigint) => Promise<boolean>,
): Promise<bigint> {
  let [before, found] = [low, high];
  while (found - before > 1n) {
    const middle = (before + found) / 2n;
    if (await isPast(middle)) found = middle;
    else before = middle;
  }
  return found;
}

/** A block that is an hour before `startBlock` at least, and no more than twice as far as needed. */
async function blockBefore(client: ReadClient, startBlock: bigint): Promise<bigint> {
  const { timestamp } = await client.getBlock({ blockNumber: startBlock });
  for (let back = 1n; back < startBlock; back *= 2n) {
    const block = await client.getBlock({ blockNumber: startBlock - back });
    if (block.timestamp <= timestamp - OLDEST_PRICE_SECONDS) return block.number;
  }
  return 0n;
}

/** The aggregators that proxies announced since a block. A node may refuse so wide a range; then none is known. */
async function announcedAggregators(
  client: ReadClient,
  address: Address[],
  fromBlock: bigint,
): Promise<ReadonlySet<string>> {
  try {
    const logs = await client.getContractEvents({
      address,
      abi: priceFeedProxyAbi,
      eventName: "AggregatorConfirmed",
      fromBlock,
      strict: true,
    });
    return new Set(logs.map((log) => `${log.address} ${log.args.latest}`.toLowerCase()));
  } catch (error) {
    if (isRefusal(error)) return new Set();
    throw error;
  }
}

/** The aggregators of a feed's phases, in their order: the feed itself, as phase 0, when it is no proxy. */
async function phaseAggregators(client: ReadClient, address: Address) {
  const newest = await phaseAt(client, address);
  if (newest === undefined) return [{ phase: 0, aggregator: address }];
  return Promise.all(
    Array.from({ length: newest }, async (_, index) => {
      const phase = index + 1;
      const args = [phase] as const;
      const read = { address, abi: priceFeedProxyAbi, functionName: "phaseAggregators", args } as const;
      return { phase, aggregator: await client.readContract(read) };
    }),
  );
}

type Range = { readonly firstBlock: bigint; readonly head: bigint };

/**
 * The first block after which the proxy answers from a phase, from the proxy's old states. Within that block the phase
 * counts from its first log on. Without an archive node this is the first indexed block, and `warn` is called.
 */
async function phaseStart(
  client: ReadClient,
  proxy: Address,
  phase: number,
  { firstBlock, head }: Range,
  warn: (what: string) => void,
): Promise<number> {
  const hasBegun = async (block: bigint) => {
    try {
      return ((await phaseAt(client, proxy, block)) ?? 0) >= phase;
    } catch (error) {
      if (isWithoutCode(error)) return false; // the proxy was created later
      throw error;
    }
  };
  try {
    if (await hasBegun(firstBlock)) return Number(firstBlock);
    return Number(await firstPast(firstBlock, head, hasBegun));
  } catch (error) {
    if (!isRefusal(error)) throw error;
    warn(`the node has no old state: phase ${phase} of feed ${proxy} counts from block ${firstBlock} on`);
    return Number(firstBlock);
  }
}

async function findPriceFeed(
  client: ReadClient,
  [symbol, proxy]: readonly [AssetSymbol, Address],
  range: Range,
  announced: ReadonlySet<string>,
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
  const phases = await Promise.all(
    found.map(async ({ phase, aggregator }) => {
      const isAnnounced = announced.has(`${proxy} ${aggregator}`.toLowerCase());
      const since = isAnnounced
        ? null
        : phase === 0
          ? Number(range.firstBlock)
          : await phaseStart(client, proxy, phase, range, warn);
      return { phase, aggregator, since };
    }),
  );
  return { asset: assetBytes32(symbol), proxy, phases };
}

/** The sequencer's status before a block; null when the node cannot tell. */
async function statusBefore(
  client: ReadClient,
  address: Address,
  firstBlock: bigint,
): Promise<IndexedFeeds["sequencer"]["before"]> {
  const read = { address, abi: priceFeedAbi, functionName: "latestRoundData" } as const;
  const { timestamp } = await client.getBlock({ blockNumber: firstBlock });
  try {
    const [, newest, since] = await client.readContract(read);
    // No change since then: no old state is needed.
    if (since <= timestamp) return { up: newest === 0n, startedAt: String(since) };
    const [, answer, startedAt] = await client.readContract({ ...read, blockNumber: firstBlock });
    return startedAt <= timestamp ? { up: answer === 0n, startedAt: String(startedAt) } : null;
  } catch (error) {
    if (isRefusal(error) || isWithoutCode(error)) return null;
    throw error;
  }
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
  const announced = await announcedAggregators(client, [btcUsdFeed, ethUsdFeed], firstBlock);
  const symbols = [
    ["BTC", btcUsdFeed],
    ["ETH", ethUsdFeed],
  ] as const;
  const [prices, statuses, before] = await Promise.all([
    Promise.all(symbols.map((feed) => findPriceFeed(client, feed, { firstBlock, head }, announced, warn))),
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
