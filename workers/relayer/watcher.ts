import type { Sql } from "postgres";
import type { Logger } from "../../lib/log.ts";
import { ownTransactions } from "../ledger/open.ts";
import { noteWatched } from "../ledger/settled.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Block, Chain } from "./chain.ts";
import type { MarketSource } from "./market.ts";
import type { SettleReceipts } from "./settle.ts";

/** Blocks read at once after a pause; transactions in older ones are found by the recovery, by their nonce. */
const MAX_BLOCKS = 50n;

export type WatcherOptions = {
  sql: Sql;
  chain: Pick<Chain, "block" | "receiptsIn">;
  chainId: number;
  confirmations: number;
  market: MarketSource;
  settleReceipts: SettleReceipts;
  /** A new head was read; `reorganised` when it does not follow the last one. */
  onHead: (head: Block, reorganised: boolean) => Promise<void>;
  meter: Meter;
  log: Logger;
};

/**
 * Reads the chain block by block for everything that is in flight: a block's list of hashes tells which transactions
 * are ours, and one more call fetches all their receipts. Rejects when the node or the database is away; the next round
 * then begins where this one did.
 */
export function createWatcher(options: WatcherOptions) {
  const { sql, chain, chainId, confirmations, market, settleReceipts, onHead, meter, log } = options;
  let last: Block | undefined;

  /** Blocks `from` to the head, each the parent of the next; throws when they change while they are read. */
  async function blocksUpTo(head: Block, from: bigint): Promise<Block[]> {
    const start = head.number - from > MAX_BLOCKS ? head.number - MAX_BLOCKS : from;
    const numbers = Array.from({ length: Number(head.number - start) }, (_, i) => start + BigInt(i));
    const blocks = await Promise.all(numbers.map((number) => chain.block(number)));
    const line: Block[] = [head];
    for (const block of blocks.toReversed()) {
      if (!block || line[0]?.parentHash !== block.hash)
        throw new Error("the chain changed while it was read");
      line.unshift(block);
    }
    return line;
  }

  async function settleBlocks(blocks: readonly Block[]): Promise<void> {
    const hashes = blocks.flatMap((block) => block.transactions);
    meter.seen(hashes);
    const own = await ownTransactions(sql, chainId, hashes);
    if (own.length === 0) return;
    const ours = new Set(own.map((transaction) => transaction.hash));
    const found = await Promise.all(
      blocks.map(async (block) => {
        const hashes = block.transactions.filter((hash) => ours.has(hash));
        if (hashes.length === 0) return [];
        const receipts = await chain.receiptsIn(block, hashes);
        // A receipt from another block than the one that was read belongs to another view of the chain.
        return receipts.filter((receipt) => receipt.blockHash === block.hash);
      }),
    );
    await settleReceipts(own, found.flat());
  }

  return async function watch(): Promise<void> {
    const head = await chain.block("latest");
    if (!head) throw new Error("the node has no latest block");
    if (head.hash === last?.hash) return;
    market.onBlock(head);
    let blocks = await blocksUpTo(head, last && last.number < head.number ? last.number + 1n : head.number);
    const follows = !last || (last.number < head.number && blocks[0]?.parentHash === last.hash);
    // More blocks than are read at once also begin after a gap; the recovery finds what lies in it.
    const gap = last !== undefined && head.number - last.number > MAX_BLOCKS + 1n;
    const reorganised = !follows && !gap;
    if (reorganised) {
      log.warn({ block: String(head.number) }, "the chain was reorganised");
      const lowest = last && last.number < head.number ? last.number : head.number;
      const from = lowest - BigInt(confirmations);
      blocks = await blocksUpTo(head, from > 0n ? from : 0n);
    }
    await settleBlocks(blocks);
    await noteWatched(sql, chainId, head, reorganised);
    await onHead(head, reorganised);
    last = head;
  };
}
