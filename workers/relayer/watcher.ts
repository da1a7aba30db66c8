import type { Sql } from "postgres";
import type { Hex } from "viem";
import type { Logger } from "../../lib/log.ts";
import { ownTransactions } from "../ledger/open.ts";
import { lowestOpenNonces, noteWatched } from "../ledger/settled.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Block, Chain, Receipt } from "./chain.ts";
import type { Head } from "./head.ts";
import type { MarketSource } from "./market.ts";
import type { SettleReceipts } from "./settle.ts";

/** Blocks read at once after a pause; transactions in older ones are found by the recovery, by their nonce. */
const MAX_BLOCKS = 50n;
/** The nodes behind one URL are not all at the same height: what one of them lacks is asked for so often again. */
const ASK_AGAIN = 2;
/** A head below the last one is that of a node behind the others for so long, in ms; then the chain became shorter. */
const BEHIND_MS = 10_000;
/** So long, in ms, the recovery may take for what lies in blocks that were not read, before the head is noted anyway. */
const CATCH_UP_MS = 30_000;

export type WatcherOptions = {
  sql: Sql;
  chain: Pick<Chain, "block" | "nonce" | "receiptsIn">;
  head: Pick<Head, "read">;
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
  let behindSince: number | undefined;
  /** Since when there are blocks that nobody has read, in which ours may lie. */
  let unreadSince: number | undefined;

  /** Undefined when no node that was asked has a block at this height. */
  async function blockAt(number: bigint): Promise<Block | undefined> {
    let block = await chain.block(number);
    for (let again = 0; !block && again < ASK_AGAIN; again += 1) block = await chain.block(number);
    return block;
  }

  /** Whether a head that is not above the last one is another node's, because the last one still stands. */
  async function isBehind(head: Block): Promise<boolean> {
    if (!last || head.number > last.number) {
      behindSince = undefined;
      return false;
    }
    const standing = await blockAt(last.number);
    if (standing) return standing.hash === last.hash;
    behindSince ??= performance.now();
    return performance.now() - behindSince < BEHIND_MS;
  }

  /** The receipts of some transactions of a block; one that no node that was asked has is left out. */
  async function receiptsOf(block: Block, hashes: readonly Hex[]): Promise<Receipt[]> {
    let receipts: Receipt[] = [];
    for (let asked = 0; receipts.length < hashes.length && asked <= ASK_AGAIN; asked += 1) {
      // A receipt from another block than the one that was read belongs to another view of the chain.
      receipts = (await chain.receiptsIn(block, hashes)).filter(({ blockHash }) => blockHash === block.hash);
    }
    return receipts;
  }

  /** Blocks `from` to the head, each the parent of the next; throws when they change while they are read. */
  async function blocksUpTo(head: Block, from: bigint): Promise<Block[]> {
    const start = head.number - from > MAX_BLOCKS ? head.number - MAX_BLOCKS : from;
    const numbers = Array.from({ length: Number(head.number - start) }, (_, i) => start + BigInt(i));
    const blocks = await Promise.all(numbers.map(blockAt));
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
        return hashes.length === 0 ? [] : receiptsOf(block, hashes);
      }),
    );
    await settleReceipts(own, found.flat());
  }

  /** Whether nothing of ours that was mined up to the head is still open, in whatever block it lies. */
  async function isSettledUpTo(head: Block): Promise<boolean> {
    if (unreadSince === undefined) return true;
    if (performance.now() - unreadSince < CATCH_UP_MS) {
      const lowest = await lowestOpenNonces(sql, chainId);
      const mined = await Promise.all(lowest.map(({ wallet }) => chain.nonce(wallet, head.number)));
      if (lowest.some(({ nonce }, index) => nonce < (mined[index] ?? 0))) return false;
    }
    unreadSince = undefined;
    return true;
  }

  return async function watch(): Promise<void> {
    const head = await options.head.read();
    if (head.hash === last?.hash || (await isBehind(head))) return;
    market.onBlock(head);
    let blocks = await blocksUpTo(head, last && last.number < head.number ? last.number + 1n : head.number);
    const follows = !last || (last.number < head.number && blocks[0]?.parentHash === last.hash);
    // More blocks than are read at once also begin after a gap; the recovery finds what lies in it.
    const gap = last !== undefined && head.number - last.number > MAX_BLOCKS + 1n;
    const reorganised = !follows && !gap;
    if (!last || gap) unreadSince ??= performance.now();
    if (reorganised) {
      log.warn({ block: String(head.number) }, "the chain was reorganised");
      const lowest = last && last.number < head.number ? last.number : head.number;
      const from = lowest - BigInt(confirmations);
      blocks = await blocksUpTo(head, from > 0n ? from : 0n);
    }
    await settleBlocks(blocks);
    await onHead(head, reorganised);
    // Who reads a buyer's funds at this block relies on the ledger to know of all that was bought up to it.
    if (reorganised || (await isSettledUpTo(head))) await noteWatched(sql, chainId, head, reorganised);
    last = head;
  };
}
