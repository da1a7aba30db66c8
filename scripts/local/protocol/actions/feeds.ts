/** The price feeds and the sequencer feed of local chains. Prices have 8 decimals here. */
import { encodeFunctionData, type LocalAccount, type TransactionReceipt } from "viem";
import { mockPriceFeedAbi } from "../../../../abis/MockPriceFeed.ts";
import { mockSequencerFeedAbi } from "../../../../abis/MockSequencerFeed.ts";
import type { AssetSymbol } from "../../../../lib/products.ts";
import { type Protocol, send } from "./protocol.ts";

export type FeedName = AssetSymbol | "token";
export type Round = { readonly roundId: bigint; readonly price: bigint; readonly updatedAt: bigint };

export const feedOf = ({ deployment: { contracts } }: Protocol, feed: FeedName) =>
  ({ BTC: contracts.btcUsdFeed, ETH: contracts.ethUsdFeed, token: contracts.tokenUsdFeed })[feed];

/** The newest round of a feed. */
export async function latestRound(protocol: Protocol, feed: FeedName): Promise<Round> {
  const [roundId, price, , updatedAt] = await protocol.client.readContract({
    abi: mockPriceFeedAbi,
    address: feedOf(protocol, feed),
    functionName: "latestRoundData",
  });
  return { roundId, price, updatedAt };
}

/** Adds a round with this price (8 decimals), updated at the time of its block or at `updatedAt`; anybody may. */
export function pushPrice(
  protocol: Protocol,
  account: LocalAccount,
  feed: FeedName,
  price: bigint,
  updatedAt?: bigint,
): Promise<TransactionReceipt> {
  const data =
    updatedAt === undefined
      ? encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "push", args: [price] })
      : encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "pushRound", args: [price, updatedAt] });
  return send(protocol, account, feedOf(protocol, feed), data);
}

/** Repeats the newest price of all three price feeds, so that none is stale for an hour. */
export async function refreshFeeds(protocol: Protocol, account: LocalAccount): Promise<void> {
  const data = encodeFunctionData({ abi: mockPriceFeedAbi, functionName: "refresh" });
  for (const feed of ["BTC", "ETH", "token"] as const)
    await send(protocol, account, feedOf(protocol, feed), data);
}

/** Sets the sequencer's state and since when it holds, Unix seconds. */
export function setSequencer(
  protocol: Protocol,
  account: LocalAccount,
  { down, startedAt }: { readonly down: boolean; readonly startedAt: bigint },
): Promise<TransactionReceipt> {
  return send(
    protocol,
    account,
    protocol.deployment.contracts.sequencerFeed,
    encodeFunctionData({ abi: mockSequencerFeedAbi, functionName: "setStatus", args: [down, startedAt] }),
  );
}
