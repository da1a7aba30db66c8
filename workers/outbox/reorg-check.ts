import type { Hex } from "viem";
import type { Block, StoredEvent } from "./event.ts";
import type { ReadBlock } from "./read-block.ts";

/** Whether the block of a stored event is still part of the chain. */
export type BlockVerdict =
  /** Another block has its height: the event was reverted. */
  | { readonly kind: "orphaned"; readonly event: StoredEvent; readonly canonicalBlockHash: Hex }
  /** Its block is part of the chain. Without a row in the index, that is wrong, or another build of it stored the event. */
  | { readonly kind: "canonical"; readonly event: StoredEvent }
  /** The node did not answer, has no block at that height, or is on another branch than an index that has the event. */
  | { readonly kind: "unknown"; readonly event: StoredEvent };

/** Reads the chain's block at each event's height and compares the hashes. `head` is the index's. */
export function checkBlocks(
  events: readonly StoredEvent[],
  head: Block,
  readBlock: ReadBlock,
): Promise<BlockVerdict[]> {
  const read = (number: bigint) => readBlock(number).catch(() => undefined);
  return Promise.all(
    events.map(async (event): Promise<BlockVerdict> => {
      const block = await read(BigInt(event.blockNumber));
      // An index that is still on the old branch would yield the event again.
      const known = !event.indexed || (await read(head.number))?.hash === head.hash;
      if (!block || !known) return { kind: "unknown", event };
      if (block.hash === event.blockHash) return { kind: "canonical", event };
      return { kind: "orphaned", event, canonicalBlockHash: block.hash };
    }),
  );
}

/**
 * Whether the chain has another block at the height of one of these blocks. Their events are reverted once the index reaches
 * that height. A height without a block, or an unanswered request, counts as not replaced.
 */
export async function isAnyReplaced(
  blocks: readonly { readonly number: bigint; readonly hash: string }[],
  readBlock: ReadBlock,
): Promise<boolean> {
  const replaced = await Promise.all(
    blocks.map(async ({ number, hash }) => {
      const block = await readBlock(number).catch(() => undefined);
      return block !== undefined && block.hash !== hash;
    }),
  );
  return replaced.includes(true);
}
