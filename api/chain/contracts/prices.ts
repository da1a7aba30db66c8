import type { Hex } from "viem";
import { priceFeedAbi } from "../../../abis/PriceFeed.ts";
import { atBlock, type ReadClient } from "../../../lib/chain/client.ts";
import type { Contracts } from "../../../lib/deployments.ts";
import { FEED_TO_PRICE } from "../../../lib/price-rules.ts";
import { assetBytes32 } from "../../../lib/products.ts";

/** The newest round of an asset's feed: USD with 18 decimals, and its time in Unix seconds. */
export type AssetPrice = { readonly price: bigint; readonly updatedAt: bigint };

/** A feed's answer as a price; null for an answer that no shield takes. */
export const assetPrice = (answer: bigint, updatedAt: bigint): AssetPrice | null =>
  answer > 0n ? { price: answer * FEED_TO_PRICE, updatedAt } : null;

/** The newest prices at a block, by default the newest, by asset (bytes32). Rejects when the node does not answer. */
export async function readAssetPrices(
  chain: ReadClient,
  { btcUsdFeed, ethUsdFeed }: Contracts,
  blockNumber?: bigint,
): Promise<ReadonlyMap<Hex | undefined, AssetPrice | null>> {
  const feeds = { BTC: btcUsdFeed, ETH: ethUsdFeed } as const;
  const read = { abi: priceFeedAbi, functionName: "latestRoundData", ...atBlock(blockNumber) } as const;
  return new Map(
    await Promise.all(
      Object.entries(feeds).map(async ([symbol, address]) => {
        const [, answer, , updatedAt] = await chain.readContract({ ...read, address });
        return [assetBytes32(symbol), assetPrice(answer, updatedAt)] as const;
      }),
    ),
  );
}
