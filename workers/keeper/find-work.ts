import { readDue } from "../../lib/indexed/due.ts";
import { noneWithoutIndex } from "../../lib/indexed/errors.ts";
import { readExpired, readQueueHead } from "../../lib/indexed/overdue.ts";
import { head } from "../../ponder.schema.ts";
import type { KeeperContext } from "./context.ts";
import { dueFromChain } from "./from-chain/due.ts";
import { expiryWork, queueWork, THROTTLE_EPOCH, triggerWork, type Work } from "./work.ts";

/** Expired policies that one round closes at most. */
const EXPIRED = 100;
/** For this time a block of the index in which nothing was due is not looked at again, in ms. */
const IDLE_MS = 5_000;
/** An index that is more blocks than this behind the chain does not tell what is due now. */
const LAG_LIMIT = 10n;
/** Nor does one that has stood still for this long while the chain went on, in ms. */
const STILL_MS = 10_000;
/** How often the chain itself is read, in ms: it takes the newest logs, and the first time those of the longest cover. */
const SCAN_MS = 5_000;

/** What there is to do at a block: triggers by their deadline, then expired policies, then the redemption queue. */
export type FoundWork = {
  readonly head: { readonly number: bigint; readonly hash: string; readonly timestamp: bigint };
  readonly work: readonly Work[];
};

/**
 * Finds what there is to do: from the index, and while that is away or behind, the triggers from the chain, every five seconds.
 * Undefined when it is not known now. Rejects when database or node are down.
 */
export async function findWork(context: KeeperContext): Promise<FoundWork | undefined> {
  const found = await fromIndex(context).catch(noneWithoutIndex);
  const isUsable = found !== undefined && isCurrent(context, found);
  if (isUsable !== context.usesIndex) {
    context.usesIndex = isUsable;
    if (isUsable) context.log.info("the keeper reads what is due from the index");
    else context.log.warn("the index is away or behind: the keeper reads what is due from the chain");
  }
  return isUsable ? found : fromChain(context);
}

/** Reads what is due from the index. Undefined while the index has no complete block. */
async function fromIndex(context: KeeperContext): Promise<FoundWork | undefined> {
  const { index, idle } = context;
  if (performance.now() - idle.since < IDLE_MS) {
    const [now] = await index.select().from(head);
    if (now && now.hash === idle.hash) return { head: now, work: [] };
  }
  const found = await lookAtIndex(context);
  context.idle = { hash: found?.work.length === 0 ? found.head.hash : undefined, since: performance.now() };
  return found;
}

/** Reads what is due from the index, in one snapshot. */
const lookAtIndex = ({ index, contracts }: KeeperContext): Promise<FoundWork | undefined> =>
  index.transaction(async (tx) => {
    const due = await readDue(tx);
    if (!due) return undefined;
    const { head: block, policies } = due;
    const [expired, entry] = await Promise.all([
      readExpired(tx, block.timestamp, EXPIRED),
      readQueueHead(tx),
    ]);
    const isPayable = entry && entry.targetEpoch <= block.timestamp / THROTTLE_EPOCH;
    const work = [
      ...policies.map((policy) => triggerWork(contracts, policy)),
      ...expired.map((policy) => expiryWork(contracts, policy)),
      ...(isPayable ? [queueWork(contracts, entry, block.timestamp)] : []),
    ];
    return { head: block, work };
  });

/** Whether the index follows the chain, as far as this writer has seen it. */
function isCurrent(context: KeeperContext, { head: block }: FoundWork): boolean {
  const newest = context.chainHead() ?? block.number;
  const now = performance.now();
  if (block.hash !== context.indexHead.hash) context.indexHead = { hash: block.hash, since: now };
  if (newest <= block.number) return true;
  return newest - block.number <= LAG_LIMIT && now - context.indexHead.since < STILL_MS;
}

/**
 * Expired policies and the redemption queue wait for the index: they have no deadline. What was found counts until the chain is
 * read again, because one round does not begin everything that a crash makes due.
 */
async function fromChain(context: KeeperContext): Promise<FoundWork | undefined> {
  if (performance.now() - context.scannedAt < SCAN_MS) return context.scanned;
  context.scannedAt = performance.now();
  context.scanned = undefined;
  const { head: block, policies } = await dueFromChain(context.cover);
  context.scanned = { head: block, work: policies.map((policy) => triggerWork(context.contracts, policy)) };
  return context.scanned;
}
