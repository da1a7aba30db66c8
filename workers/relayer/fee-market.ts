import type { Block, Chain } from "./chain.ts";
import type { MarketFees } from "./fees.ts";

/** How long a block's fees are used, in ms, when the watcher reports no newer block. */
const MAX_AGE_MS = 4000;

/**
 * The fees of the latest block, requested once per block however many transactions are signed.
 *
 * @param maxPriorityFee the most of the node's suggestion that is taken, in wei per gas: it is a guess from a few blocks.
 */
export function createFeeMarket(chain: Pick<Chain, "block" | "priorityFee">, maxPriorityFee: bigint) {
  let cached: { at: number; fees: Promise<MarketFees> } | undefined;
  let latest: { at: number; block: Block } | undefined;

  async function read(head: Pick<Block, "baseFee"> | undefined): Promise<MarketFees> {
    const [block, suggested] = await Promise.all([head ?? chain.block("latest"), chain.priorityFee()]);
    if (!block) throw new Error("the node has no latest block");
    return { baseFee: block.baseFee, priorityFee: suggested < maxPriorityFee ? suggested : maxPriorityFee };
  }

  function refresh(head: Pick<Block, "baseFee"> | undefined): Promise<MarketFees> {
    const fees = read(head);
    cached = { at: performance.now(), fees };
    fees.catch(() => {
      if (cached?.fees === fees) cached = undefined;
    });
    return fees;
  }

  return {
    /** The watcher has read a new head: the next call of `now` returns this block's fees. */
    onBlock(block: Block): void {
      latest = { at: performance.now(), block };
      cached = undefined;
    },
    /** Rejects when the node does not answer. */
    now(): Promise<MarketFees> {
      if (cached && performance.now() - cached.at < MAX_AGE_MS) return cached.fees;
      const fresh = latest && performance.now() - latest.at < MAX_AGE_MS ? latest.block : undefined;
      return refresh(fresh);
    },
  };
}

export type FeeMarket = ReturnType<typeof createFeeMarket>;
