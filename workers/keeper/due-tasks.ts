import { inSnapshot } from "../../lib/db/snapshot.ts";
import { type DuePolicy, readDue } from "../../lib/indexed/due.ts";
import { noneWithoutIndex } from "../../lib/indexed/errors.ts";
import { readExpired, readOpenQueue } from "../../lib/indexed/overdue.ts";
import { head } from "../../ponder.schema.ts";
import type { KeeperContext } from "./context.ts";
import { dueFromChain } from "./from-chain/due.ts";
import { expiryTask, queueTask, type Task } from "./task.ts";

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

type Head = { readonly number: bigint; readonly hash: string; readonly timestamp: bigint };

/** What is to be done at a block: due policies, by their last moment, and then expired ones, and the redemption queue. */
export type DueWork = {
  readonly head: Head;
  readonly policies: readonly DuePolicy[];
  readonly others: readonly Task[];
};

/** The same as tasks: triggers by their deadline come first. */
export type DueTasks = { readonly head: Head; readonly tasks: readonly Task[] };

/**
 * Finds what is to be done: from the index, and while that is away or behind, the triggers from the chain, every five seconds.
 * Undefined when it is not known now. Rejects when database or node are down.
 */
export async function findDueWork(context: KeeperContext): Promise<DueWork | undefined> {
  const due = await fromIndex(context).catch(noneWithoutIndex);
  const isUsable = due !== undefined && isCurrent(context, due);
  if (isUsable !== context.usesIndex) {
    context.usesIndex = isUsable;
    if (isUsable) context.log.info("the keeper reads what is due from the index");
    else context.log.warn("the index is away or behind: the keeper reads what is due from the chain");
  }
  return isUsable ? due : fromChain(context);
}

/** Reads what is due from the index. Undefined while the index has no complete block. */
async function fromIndex(context: KeeperContext): Promise<DueWork | undefined> {
  const { index, idle } = context;
  if (performance.now() - idle.since < IDLE_MS) {
    const [now] = await index.select().from(head);
    if (now && now.hash === idle.hash) return { head: now, policies: [], others: [] };
  }
  const due = await lookAtIndex(context);
  const isIdle = due?.policies.length === 0 && due.others.length === 0;
  context.idle = { hash: isIdle ? due.head.hash : undefined, since: performance.now() };
  return due;
}

/** Reads what is due from the index, in one snapshot. */
const lookAtIndex = ({ index, contracts }: KeeperContext): Promise<DueWork | undefined> =>
  inSnapshot(index, async (tx) => {
    const due = await readDue(tx);
    if (!due) return undefined;
    const { head: block, policies } = due;
    const [expired, queue] = await Promise.all([
      readExpired(tx, block.timestamp, EXPIRED),
      readOpenQueue(tx, block.timestamp),
    ]);
    const others = [
      ...expired.map((policy) => expiryTask(contracts, policy)),
      ...(queue ? [queueTask(contracts, queue)] : []),
    ];
    return { head: block, policies, others };
  });

/** Whether the index follows the chain, as far as this writer has seen it. */
function isCurrent(context: KeeperContext, { head: block }: DueWork): boolean {
  const newest = context.chainHead() ?? block.number;
  const now = performance.now();
  if (block.hash !== context.indexHead.hash) context.indexHead = { hash: block.hash, since: now };
  if (newest <= block.number) return true;
  return newest - block.number <= LAG_LIMIT && now - context.indexHead.since < STILL_MS;
}

/**
 * Expired policies and the redemption queue, which can be paid until its week ends, wait for the index. What was read counts until
 * the chain is read again, because one round does not begin everything that a crash makes due.
 */
async function fromChain(context: KeeperContext): Promise<DueWork | undefined> {
  if (performance.now() - context.scannedAt < SCAN_MS) return context.scanned;
  context.scannedAt = performance.now();
  context.scanned = undefined;
  context.scanned = { ...(await dueFromChain(context.cover)), others: [] };
  return context.scanned;
}
