import type { AsOf } from "../policies/body.ts";
import type { IndexReader } from "./reader.ts";

/**
 * The newest indexed block that this process has seen. No answer that is kept may be of an older one: a client never
 * goes back in time, but for a reorganisation or a restart of the indexer.
 */
export type NewestHead = {
  /** The newest block, fresh or asked for now, by one question for all. @throws as `IndexReader.head` */
  get(): Promise<AsOf>;
  /** The newest block, where it was asked for a moment ago. */
  fresh(): AsOf | undefined;
  /** The newest block that was ever seen, as old as that may be. */
  known(): AsOf | undefined;
  /** Takes note of the head of a snapshot that was asked for at `begun` (of `performance.now`). */
  learn(asOf: AsOf, begun: number): void;
};

/** So old may the newest block be that a kept answer relies on, in ms: far less than the time between two blocks. */
const HEAD_TTL_MS = 20;

export function createNewestHead(index: Pick<IndexReader, "head">): NewestHead {
  let known: { asOf: AsOf; begun: number; learned: number } | undefined;
  let asking: Promise<AsOf> | undefined;

  function learn(asOf: AsOf, begun: number): void {
    // Only a snapshot that was asked for after the known one had arrived is surely the later one, and may go back.
    if (known && asOf.number <= known.asOf.number && begun < known.learned) return;
    known = { asOf, begun, learned: performance.now() };
  }

  const fresh = () => (known && performance.now() - known.begun < HEAD_TTL_MS ? known.asOf : undefined);

  async function ask(): Promise<AsOf> {
    const begun = performance.now();
    try {
      const asOf = await index.head();
      learn(asOf, begun);
      return known?.asOf ?? asOf;
    } finally {
      asking = undefined;
    }
  }

  return {
    learn,
    fresh,
    known: () => known?.asOf,
    async get() {
      const known = fresh();
      if (known) return known;
      asking ??= ask();
      return asking;
    },
  };
}
