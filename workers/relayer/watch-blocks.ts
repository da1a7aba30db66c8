import type { Hex } from "viem";
import { lowestOpenNonces, noteWatched } from "../ledger/outcomes.ts";
import { ownTransactions } from "../ledger/transactions.ts";
import type { Block, Chain, Receipt } from "./chain.ts";
import type { ChainContext } from "./chain-context.ts";
import type { SettleReceipts } from "./settle-receipts.ts";

/** A node that has not answered a request for its head within this time counts as down, in ms. */
const TIMEOUT_MS = 20_000;

/**
 * Reads the chain's head, and derives from those requests alone whether the node answers: a fault of Postgres, or in a
 * block's content, must never look like a node that is down.
 */
export function createChainHead(chain: Pick<Chain, "block">, timeoutMs = TIMEOUT_MS) {
  let unansweredSince: number | undefined;
  let newest: bigint | undefined;
  return {
    /** The newest block. Rejects when the node does not answer. */
    async read(): Promise<Block> {
      unansweredSince ??= performance.now();
      const head = await chain.block("latest");
      if (!head) throw new Error("the node has no latest block");
      unansweredSince = undefined;
      newest = head.number;
      return head;
    },
    /** The height of the head that was read last; undefined before the first. */
    height: (): bigint | undefined => newest,
    /** False once requests have had no answer for `timeoutMs`. */
    isNodeAnswering: (): boolean =>
      unansweredSince === undefined || performance.now() - unansweredSince < timeoutMs,
  };
}

export type ChainHead = ReturnType<typeof createChainHead>;

/** How often the head is read, in ms: while sent transactions are not mined, and otherwise. */
const BUSY_MS = 200;
const IDLE_MS = 1000;
/** How long a sent transaction is waited for with short pauses, in ms: seven blocks of an L2. */
const BUSY_FOR_MS = 15_000;
/** A chain that has what was sent in a block within this time, in ms, may mine each transaction at once. */
const AT_ONCE_MS = 400;
/** There the head is read this often, in ms, for so long after a send. */
const RIGHT_AFTER_SEND_MS = 20;
const RIGHT_AFTER_SEND_FOR_MS = 120;

/** The pace at which the head is read, by the transactions that were sent and are in no block that was read. */
export function createPace(now = () => performance.now()) {
  /** When each was sent; the newest last. */
  const unmined = new Map<Hex, number>();
  let newestAt = Number.NEGATIVE_INFINITY;
  let minesAtOnce = false;
  return {
    sent(hash: Hex): void {
      newestAt = now();
      unmined.set(hash, newestAt);
    },
    mined(hashes: readonly Hex[]): void {
      const sent = hashes.flatMap((hash) => unmined.get(hash) ?? []);
      // Of those in blocks that were read together the oldest has waited longest.
      if (sent.length > 0) minesAtOnce = now() - Math.min(...sent) < AT_ONCE_MS;
      for (const hash of hashes) unmined.delete(hash);
    },
    pauseMs(): number {
      for (const [hash, sentAt] of unmined) if (now() - sentAt >= BUSY_FOR_MS) unmined.delete(hash);
      if (unmined.size === 0) return IDLE_MS;
      return minesAtOnce && now() - newestAt < RIGHT_AFTER_SEND_FOR_MS ? RIGHT_AFTER_SEND_MS : BUSY_MS;
    },
  };
}

export type Pace = ReturnType<typeof createPace>;

/** Most blocks that are read after a pause; the recovery finds transactions in older ones, by their nonce. */
const MAX_BLOCKS = 50n;
/** How often a missing block or receipt is requested again: the nodes behind one URL may have different heights. */
const RETRIES = 2;
/** For this time, in ms, a head below the last one means a node that is behind; after that, a chain that has become shorter. */
const BEHIND_MS = 10_000;
/** How long the recovery may take for transactions in unread blocks, in ms; after that the head is stored anyway. */
const CATCH_UP_MS = 30_000;

export type WatcherContext = Pick<ChainContext, "sql" | "chain" | "chainId" | "market" | "meter" | "log"> & {
  head: Pick<ChainHead, "read">;
  confirmations: number;
  settleReceipts: SettleReceipts;
  /** Called for each new head; `reorganised` when blocks up to its height may have been replaced since the last one. */
  onHead: (head: Block, reorganised: boolean) => Promise<void>;
  /** The head of the last round. */
  last?: Block;
  /** After a reorganisation that was first seen at a lower head: the height up to which blocks were replaced. */
  replacedUpTo?: bigint | undefined;
  /** Since when the node has reported a head below the last one, by `performance.now()`. */
  behindSince?: number | undefined;
  /** Since when there are blocks that were never read and may contain our transactions, by `performance.now()`. */
  unreadSince?: number | undefined;
};

/**
 * Reads the blocks since the last round for transactions of ours: a block lists its transactions' hashes, and one more
 * request reads the receipts of ours. Rejects when the node or the database is down; the next round then begins at the
 * same block.
 */
export async function watchBlocks(context: WatcherContext): Promise<void> {
  const { sql, chainId, confirmations, last } = context;
  const head = await context.head.read();
  if (head.hash === last?.hash || (await isBehind(context, head))) return;
  context.market.onBlock(head);
  const from = last && last.number < head.number ? last.number + 1n : head.number;
  let blocks = await blocksUpTo(context, head, from);
  const follows = !last || (last.number < head.number && blocks[0]?.parentHash === last.hash);
  // More blocks than one round reads also begin after a gap; the recovery finds transactions in the gap.
  const gap = last !== undefined && head.number - last.number > MAX_BLOCKS + 1n;
  const isOtherBranch = !follows && !gap;
  const reorganised = isOtherBranch || context.replacedUpTo !== undefined;
  if (!last || gap) context.unreadSince ??= performance.now();
  if (isOtherBranch) {
    context.log.warn({ block: String(head.number) }, "the chain was reorganised");
    const lowest = last && last.number < head.number ? last.number : head.number;
    const first = lowest - BigInt(confirmations);
    blocks = await blocksUpTo(context, head, first > 0n ? first : 0n);
  }
  if (!(await settleBlocks(context, blocks))) context.unreadSince ??= performance.now();
  await context.onHead(head, reorganised);
  if (isOtherBranch && last && last.number > (context.replacedUpTo ?? 0n)) context.replacedUpTo = last.number;
  if (context.replacedUpTo !== undefined && head.number >= context.replacedUpTo)
    context.replacedUpTo = undefined;
  // A buyer's funds are read at the noted block: the ledger must have settled all purchases up to it.
  if (reorganised || (await isSettledUpTo(context, head))) await noteWatched(sql, chainId, head, reorganised);
  context.last = head;
}

/** True when this head comes from a node that is behind: it is no higher, and the last head is still valid. */
async function isBehind(context: WatcherContext, head: Block): Promise<boolean> {
  const { last } = context;
  if (!last || head.number > last.number) {
    context.behindSince = undefined;
    return false;
  }
  const current = await blockAt(context, last.number);
  if (current) return current.hash === last.hash;
  context.behindSince ??= performance.now();
  return performance.now() - context.behindSince < BEHIND_MS;
}

/** Undefined when no node that was asked has a block at this height. */
async function blockAt({ chain }: WatcherContext, number: bigint): Promise<Block | undefined> {
  let block = await chain.block(number);
  for (let retry = 0; !block && retry < RETRIES; retry += 1) block = await chain.block(number);
  return block;
}

/** The blocks `from` to the head, each the parent of the next; throws when the chain changes during the reads. */
async function blocksUpTo(context: WatcherContext, head: Block, from: bigint): Promise<Block[]> {
  const start = head.number - from > MAX_BLOCKS ? head.number - MAX_BLOCKS : from;
  const numbers = Array.from({ length: Number(head.number - start) }, (_, i) => start + BigInt(i));
  const blocks = await Promise.all(numbers.map((number) => blockAt(context, number)));
  const line: Block[] = [head];
  for (const block of blocks.toReversed()) {
    if (!block || line[0]?.parentHash !== block.hash) throw new Error("the chain changed while it was read");
    line.unshift(block);
  }
  return line;
}

/** Settles our transactions in these blocks. @returns whether all of them have their outcome */
async function settleBlocks(context: WatcherContext, blocks: readonly Block[]): Promise<boolean> {
  const hashes = blocks.flatMap((block) => block.transactions);
  context.meter.seen(hashes);
  const own = await ownTransactions(context.sql, context.chainId, hashes);
  if (own.length === 0) return true;
  const ours = new Set(own.map((transaction) => transaction.hash));
  const found = await Promise.all(
    blocks.map(async (block) => {
      const hashes = block.transactions.filter((hash) => ours.has(hash));
      return hashes.length === 0 ? [] : receiptsOf(context, block, hashes);
    }),
  );
  return (await context.settleReceipts(own, found.flat())) === own.length;
}

/** The receipts of some transactions of a block; one that no node that was asked has is left out. */
async function receiptsOf(
  { chain }: WatcherContext,
  block: Block,
  hashes: readonly Hex[],
): Promise<Receipt[]> {
  let receipts: Receipt[] = [];
  for (let request = 0; receipts.length < hashes.length && request <= RETRIES; request += 1) {
    // A receipt from another block than the one that was read belongs to another branch of the chain.
    receipts = (await chain.receiptsIn(block, hashes)).filter(({ blockHash }) => blockHash === block.hash);
  }
  return receipts;
}

/** Whether all our transactions that were mined up to the head are settled, also those in blocks that were not read. */
async function isSettledUpTo(context: WatcherContext, head: Block): Promise<boolean> {
  const { sql, chain, chainId, unreadSince } = context;
  if (unreadSince === undefined) return true;
  if (performance.now() - unreadSince < CATCH_UP_MS) {
    const lowest = await lowestOpenNonces(sql, chainId);
    const mined = await Promise.all(lowest.map(({ wallet }) => chain.nonce(wallet, head.number)));
    if (lowest.some(({ nonce }, index) => nonce < (mined[index] ?? 0))) return false;
  }
  context.unreadSince = undefined;
  return true;
}
