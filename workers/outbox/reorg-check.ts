import type { Hex } from "viem";
import type { StoredEvent } from "./event.ts";
import type { ReadBlock } from "./read-block.ts";

/** Whether the block of a stored event, for which the index has no row, is still part of the chain. */
export type BlockVerdict =
  /** Another block has its height: the event was reverted. */
  | { readonly kind: "orphaned"; readonly event: StoredEvent; readonly canonicalBlockHash: Hex }
  /** Its block is part of the chain: the index is wrong, or another build of the index stored the event. */
  | { readonly kind: "canonical"; readonly event: StoredEvent }
  /** The node did not answer, or has no block at that height. */
  | { readonly kind: "unknown"; readonly event: StoredEvent };

/** Reads the chain's block at each event's height and compares the hashes. */
export function checkBlocks(events: readonly StoredEvent[], readBlock: ReadBlock): Promise<BlockVerdict[]> {
  return Promise.all(
    events.map(async (event): Promise<BlockVerdict> => {
      const block = await readBlock(BigInt(event.blockNumber)).catch(() => undefined);
      if (!block) return { kind: "unknown", event };
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
