/** Finds what only the chain tells of a deployment: the aggregators behind its feeds, its shields, the source of the token's price. */
import { type Address, encodeEventTopics, parseEventLogs, type RpcLog, zeroAddress } from "viem";
import { bondVaultAbi } from "../../abis/BondVault.ts";
import { policyManagerAbi } from "../../abis/PolicyManager.ts";
import { priceFeedAbi } from "../../abis/PriceFeed.ts";
import { shieldAdapterAbi } from "../../abis/ShieldAdapter.ts";
import type { ReadClient } from "../../lib/chain/client.ts";
import {
  isRefusal,
  phaseAggregators,
  phaseAt,
  phaseStarts,
  type Range,
} from "../../lib/chain/feed-phases.ts";
import { type BlockRange, scanLogs, WindowSize } from "../../lib/chain/log-scan.ts";
import { findRevert, ifAnswered } from "../../lib/chain/reverts.ts";
import { type Registration, sellingAdapters } from "../../lib/chain/selling-adapters.ts";
import { ALWAYS_UP, sequencerStatusAt } from "../../lib/chain/sequencer-status.ts";
import { ConfigError } from "../../lib/config-error.ts";
import type { Contracts, Deployment } from "../../lib/deployments.ts";
import { MAX_PRICE_AGE } from "../../lib/price-rules.ts";
import { type AssetSymbol, assetBytes32, catalogueOf } from "../../lib/products.ts";
import type { IndexedPriceFeed, IndexedShield, IndexedSources } from "../../src/shared/sources.ts";

const FEED_DECIMALS = 8;

/**
 * A block at least an hour before `startBlock`, and at most twice as far back as needed: the first policies may be sold at
 * a price of that hour.
 */
export async function blockBefore(client: ReadClient, startBlock: bigint): Promise<bigint> {
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
): Promise<IndexedSources["sequencer"]["before"]> {
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

async function findSequencer(
  client: ReadClient,
  feed: Address,
  firstBlock: bigint,
): Promise<IndexedSources["sequencer"]> {
  // A chain without an uptime feed counts as always up.
  if (feed === zeroAddress)
    return { aggregators: [], before: { up: true, startedAt: String(ALWAYS_UP.startedAt) } };
  const [phases, before] = await Promise.all([
    phaseAggregators(client, feed),
    statusBefore(client, feed, firstBlock),
  ]);
  return { aggregators: phases.map(({ aggregator }) => aggregator), before };
}

/** The adapters of the manager's registrations, former ones too: they keep their open policies. */
export async function registeredAdapters(
  client: ReadClient,
  policyManager: Address,
  range: BlockRange,
): Promise<Registration[]> {
  const logs: RpcLog[] = [];
  const scan = { client, window: new WindowSize(), signal: new AbortController().signal };
  const [topic] = encodeEventTopics({ abi: policyManagerAbi, eventName: "ProductRegistered" });
  await scanLogs(scan, { address: policyManager, topics: [topic] }, range, (found) => logs.push(...found));
  return parseEventLogs({ abi: policyManagerAbi, logs, eventName: "ProductRegistered" }).map(({ args }) => ({
    productId: args.productId,
    adapter: args.shield,
  }));
}

const nameOf = ({ productId, adapter }: Registration) => `${productId} ${adapter}`.toLowerCase();

/** The shield behind an adapter; null where the manager has registered something else. */
export async function shieldOf(client: ReadClient, adapter: Address): Promise<Address | null> {
  const read = { address: adapter, abi: shieldAdapterAbi, functionName: "shield" } as const;
  return (await ifAnswered(client.readContract(read))) ?? null;
}

async function findShields(
  client: ReadClient,
  contracts: Contracts,
  range: BlockRange,
): Promise<IndexedShield[]> {
  const registrations = await Promise.all([
    registeredAdapters(client, contracts.policyManager, range),
    sellingAdapters(client, contracts),
  ]);
  const each = new Map(registrations.flat().map((one) => [nameOf(one), one]));
  const sorted = [...each.entries()].sort().map(([, registration]) => registration);
  return Promise.all(sorted.map(async (one) => ({ ...one, shield: await shieldOf(client, one.adapter) })));
}

/** Finds the lowest block, not below `startBlock`, that the node has the state of. An archive node has all, another only the newest. */
async function firstState(client: ReadClient, startBlock: bigint, head: bigint): Promise<number> {
  const hasState = async (blockNumber: bigint): Promise<boolean> => {
    try {
      await client.getBalance({ address: zeroAddress, blockNumber });
      return true;
    } catch (error) {
      if (isRefusal(error)) return false;
      throw error;
    }
  };
  if (await hasState(startBlock)) return Number(startBlock);
  let [lacking, kept] = [startBlock, head];
  while (kept - lacking > 1n) {
    const middle = (lacking + kept) / 2n;
    if (await hasState(middle)) kept = middle;
    else lacking = middle;
  }
  return Number(kept);
}

/**
 * Reads what an index that begins at `startBlock` must know. `warn` gets a sentence where the node cannot tell when a feed's
 * phase began.
 * @throws when the node does not answer; {@link ConfigError} for a price feed without 8 decimals
 */
export async function findSources(
  client: ReadClient,
  { contracts, products }: Pick<Deployment, "contracts" | "products">,
  startBlock: number,
  warn: (what: string) => void,
): Promise<IndexedSources> {
  const head = await client.getBlockNumber();
  const start = BigInt(startBlock) < head ? BigInt(startBlock) : head;
  const firstBlock = await blockBefore(client, start);
  const symbols = [
    ["BTC", contracts.btcUsdFeed],
    ["ETH", contracts.ethUsdFeed],
  ] as const;
  const vault = { address: contracts.bondVault, abi: bondVaultAbi, functionName: "priceOracle" } as const;
  const [prices, sequencer, shields, priceOracle, statesFrom] = await Promise.all([
    Promise.all(symbols.map((feed) => findPriceFeed(client, feed, { firstBlock, head }, warn))),
    findSequencer(client, contracts.sequencerFeed, firstBlock),
    findShields(client, contracts, { from: start, to: head }),
    client.readContract(vault),
    firstState(client, start, head),
  ]);
  const catalogue = catalogueOf({ products }).map(({ symbol: _, ...entry }) => entry);
  return { firstBlock: Number(firstBlock), prices, sequencer, shields, priceOracle, statesFrom, catalogue };
}

/** Between two looks at the chain, in ms: some small calls in two or three requests. */
const WATCH_EVERY_MS = 10_000;

/**
 * Calls `onNew` with a sentence once a feed answers from a phase that is not listed, or a product is sold with an adapter that is
 * not. A failed look is repeated later.
 */
export function watchSources(
  client: ReadClient,
  contracts: Contracts,
  { prices, sequencer, shields }: IndexedSources,
  onNew: (what: string) => void,
): void {
  const listed = new Map<Address, number>([
    ...prices.map(({ proxy, phases }) => [proxy, phases.length] as const),
    ...(sequencer.aggregators.length > 0
      ? [[contracts.sequencerFeed, sequencer.aggregators.length] as const]
      : []),
  ]);
  const known = new Set(shields.map(nameOf));
  let told = false;
  const products = shields.map(({ productId }) => productId);
  /** Once: whoever looks again at the start of the next build finds all. */
  function tell(what: string): void {
    if (told) return;
    told = true;
    clearInterval(watch);
    onNew(what);
  }
  const lookAtFeed = async ([feed, phases]: readonly [Address, number]) => {
    const phase = await phaseAt(client, feed).catch(() => undefined);
    if (phase !== undefined && phase > phases) tell(`feed ${feed} has a new aggregator, of phase ${phase}`);
  };
  const lookAtShields = async () => {
    const selling = await sellingAdapters(client, contracts, products).catch(() => []);
    const other = selling.find((one) => !known.has(nameOf(one)));
    if (other) tell(`product ${other.productId} has the new adapter ${other.adapter}`);
  };
  const look = () => Promise.all([...[...listed].map(lookAtFeed), lookAtShields()]);
  const watch = setInterval(() => void look(), WATCH_EVERY_MS).unref();
}
