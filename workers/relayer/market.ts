import type { Block, Chain } from "./chain.ts";
import type { Market } from "./fees.ts";

/** A block's fees are good for so long, in ms, when the watcher reports no newer block. */
const MAX_AGE_MS = 4000;

/** What gas costs now, asked once per block however many transactions are signed. */
export function createMarket(chain: Pick<Chain, "block" | "priorityFee">) {
  let cached: { at: number; market: Promise<Market> } | undefined;

  async function ask(head: Pick<Block, "baseFee"> | undefined): Promise<Market> {
    const [block, priorityFee] = await Promise.all([head ?? chain.block("latest"), chain.priorityFee()]);
    if (!block) throw new Error("the node has no latest block");
    return { baseFee: block.baseFee, priorityFee };
  }

  function refresh(head?: Pick<Block, "baseFee">): Promise<Market> {
    const market = ask(head);
    cached = { at: performance.now(), market };
    market.catch(() => {
      if (cached?.market === market) cached = undefined;
    });
    return market;
  }

  let latest: { at: number; block: Block } | undefined;
  return {
    /** Told by the watcher: the next question is answered for this block. */
    onBlock(block: Block): void {
      latest = { at: performance.now(), block };
      cached = undefined;
    },
    /** Rejects when the node does not answer. */
    now(): Promise<Market> {
      if (cached && performance.now() - cached.at < MAX_AGE_MS) return cached.market;
      const fresh = latest && performance.now() - latest.at < MAX_AGE_MS ? latest.block : undefined;
      return refresh(fresh);
    },
  };
}

export type MarketSource = ReturnType<typeof createMarket>;
