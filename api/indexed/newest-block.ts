import type { AsOf } from "../chain/block.ts";

/** A block, and when its read began and ended, by `performance.now`. */
export type ReadBlock = { readonly asOf: AsOf; readonly begun: number; readonly learned: number };

/** Keeps the newest indexed block that was read. */
export type NewestBlock = {
  known(): ReadBlock | undefined;
  /** Records the head of a snapshot. `begun`: when its read began, by `performance.now`. */
  learn(asOf: AsOf, begun: number): void;
};

export function createNewestBlock(): NewestBlock {
  let known: ReadBlock | undefined;
  return {
    known: () => known,
    learn(asOf, begun) {
      // A lower block replaces the known one only if its read began after the known one arrived: then it is surely newer.
      if (known && asOf.number <= known.asOf.number && begun < known.learned) return;
      known = { asOf, begun, learned: performance.now() };
    },
  };
}
