import type { Hex } from "viem";
import type { ReadBlock } from "./blocks.ts";
import type { StoredEvent } from "./event.ts";

/** What the chain says of a stored event of which the index has no row. */
export type Verdict =
  /** Another block stands at its height: it has not happened. */
  | { readonly kind: "gone"; readonly event: StoredEvent; readonly canonicalBlockHash: Hex }
  /** Its block stands: the index is wrong, or counts otherwise than the one that had the row. */
  | { readonly kind: "stands"; readonly event: StoredEvent }
  /** The node did not answer, or has no block there: nothing is known. */
  | { readonly kind: "unknown"; readonly event: StoredEvent };

/** Asks the chain which block stands at each event's height; each height once. */
export function proveVanished(events: readonly StoredEvent[], readBlock: ReadBlock): Promise<Verdict[]> {
  return Promise.all(
    events.map(async (event): Promise<Verdict> => {
      const block = await readBlock(BigInt(event.blockNumber)).catch(() => undefined);
      if (!block) return { kind: "unknown", event };
      if (block.hash === event.blockHash) return { kind: "stands", event };
      return { kind: "gone", event, canonicalBlockHash: block.hash };
    }),
  );
}

/**
 * Whether the chain has another block in the place of one of these: what was told of it is taken back as soon as the index
 * has come there. A height that the chain does not reach, or cannot be asked for, says nothing.
 */
export async function isReplaced(
  blocks: readonly { readonly number: bigint; readonly hash: string }[],
  readBlock: ReadBlock,
): Promise<boolean> {
  const found = await Promise.all(
    blocks.map(async ({ number, hash }) => {
      const block = await readBlock(number).catch(() => undefined);
      return block !== undefined && block.hash !== hash;
    }),
  );
  return found.includes(true);
}
