/** The price feeds and the sequencer feed of local chains. Prices have 8 decimals. */
import { type Address, encodeFunctionData, type LocalAccount, type TransactionReceipt } from "viem";
import { mockPriceFeedAbi } from "../../../../abis/MockPriceFeed.ts";
import { type AssetSymbol, assetSymbols } from "../../../../lib/products.ts";
import { type Protocol, send } from "./protocol.ts";

export type Round = { readonly roundId: bigint; readonly price: bigint; readonly updatedAt: bigint };

export const feedOf = ({ deployment: { contracts } }: Protocol, feed: AssetSymbol) =>
  ({ BTC: contracts.btcUsdFeed, ETH: contracts.ethUsdFeed })[feed];

/** The newest round of a feed. */
export async function latestRound(protocol: Protocol, feed: AssetSymbol): Promise<Round> {
  const [roundId, price, , updatedAt] = await protocol.client.readContract({
    abi: mockPriceFeedAbi,
    address: feedOf(protocol, feed),
    functionName: "latestRoundData",
  });
  return { roundId, price, updatedAt };
}

/** Adds a round with this price, updated at its block's time or at `updatedAt`. Any account may. */
export function pushPrice(
  protocol: Protocol,
  account: LocalAccount,
  feed: AssetSymbol,
  price: bigint,
  updatedAt?: bigint,
): Promise<TransactionReceipt> {
  const data =
    updatedAt === undefined
      ? encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "push", args: [price] })
      : encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "pushRound", args: [price, updatedAt] });
  return send(protocol, account, feedOf(protocol, feed), data);
}

/** Creates the aggregator of a feed's next phase. @returns its address. It answers from `confirmAggregator` on. */
export async function proposeAggregator(
  protocol: Protocol,
  account: LocalAccount,
  feed: AssetSymbol,
): Promise<Address> {
  const address = feedOf(protocol, feed);
  const data = encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "proposeAggregator" });
  await send(protocol, account, address, data);
  const read = { abi: mockPriceFeedAbi, address, functionName: "proposedAggregator" } as const;
  return protocol.client.readContract(read);
}

/** Begins a feed's next phase, with the proposed aggregator. */
export function confirmAggregator(
  protocol: Protocol,
  account: LocalAccount,
  feed: AssetSymbol,
): Promise<TransactionReceipt> {
  const data = encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "confirmAggregator" });
  return send(protocol, account, feedOf(protocol, feed), data);
}

/** Repeats the newest price of both price feeds, so that none becomes stale within an hour. */
export async function refreshFeeds(protocol: Protocol, account: LocalAccount): Promise<void> {
  const data = encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "refresh" });
  for (const feed of assetSymbols) await send(protocol, account, feedOf(protocol, feed), data);
}
