/**
 * Which blocks a run reads. While the index's head descends from the block that the last complete run took, whatever the index
 * has up to that block is stored, and only later blocks are read. Parent hashes prove it, so no node that is behind or on
 * another branch can hide a reorganisation. Otherwise a run reads every block that is not final.
 */
import type { OutboxContext } from "./context.ts";
import type { Block } from "./event.ts";
import type { Cursor, Progress } from "./progress.ts";
import type { ChainBlock, ReadBlock } from "./read-block.ts";

/** The most blocks that a run reads from the node; further back, all unfinal blocks of the index are read. */
const MAX_BLOCKS = 64;

export type Window = {
  /** Events up to this block are stored, and none of them is off the chain. */
  readonly after: bigint;
  /** The events of policies that expired before this time are stored. Unix seconds. */
  readonly since: bigint;
  /** Whether `after` is the block that the last complete run took. */
  readonly continues: boolean;
  /** The blocks of the head's branch that were read, by height. */
  readonly blocks: ReadonlyMap<bigint, Block>;
};

/** The height of the newest block with enough confirmations. */
export const confirmedHeight = (
  { confirmations }: Pick<OutboxContext, "confirmations">,
  { head }: Progress,
): bigint => head.number - BigInt(confirmations - 1);

/** The blocks from the index's head down to height `lowest`, each the child of the next; undefined where the node lacks one. */
async function readBranch(
  head: Block,
  lowest: bigint,
  readBlock: ReadBlock,
): Promise<readonly ChainBlock[] | undefined> {
  const count = Number(head.number - lowest) + 1;
  if (count > MAX_BLOCKS) return undefined;
  const found = await Promise.all(
    Array.from({ length: count }, (_, n) => readBlock(head.number - BigInt(n)).catch(() => undefined)),
  );
  const branch: ChainBlock[] = [];
  for (const block of found) {
    const child = branch.at(-1);
    if (!block || block.hash !== (child ? child.parentHash : head.hash)) return undefined;
    branch.push(block);
  }
  return branch;
}

const byHeight = (blocks: readonly Block[]) => new Map(blocks.map((block) => [block.number, block]));

/** The window after the taken block; undefined unless the head descends from it, in the same build of the index. */
async function continueAfter(
  { taken }: Cursor,
  { build, head }: Progress,
  readBlock: ReadBlock,
): Promise<Window | undefined> {
  if (taken?.build !== build || taken.block.number > head.number) return undefined;
  const { number, hash, timestamp } = taken.block;
  const branch = await readBranch(head, number + 1n, readBlock);
  const oldest = branch?.at(-1);
  if (!branch || (oldest ? oldest.parentHash : head.hash) !== hash) return undefined;
  return { after: number, since: timestamp, continues: true, blocks: byHeight(branch) };
}

/** The window of a run. */
export async function findWindow(
  context: OutboxContext,
  progress: Progress,
  cursor: Cursor,
  readBlock: ReadBlock,
): Promise<Window> {
  const next = await continueAfter(cursor, progress, readBlock);
  if (next) return next;
  const { head } = progress;
  // The index has the block when it is the head.
  const branch =
    context.confirmations === 1
      ? [head]
      : await readBranch(head, confirmedHeight(context, progress), readBlock);
  const { finalBlock: after, finalTime: since } = cursor;
  return { after, since, continues: false, blocks: byHeight(branch ?? []) };
}
