import { within } from "../../lib/timeout.ts";
import type { AsOf } from "../chain/block.ts";
import { databaseUnavailable } from "../http/dependency-timeout.ts";
import { createNewestBlock } from "./newest-block.ts";
import type { IndexReader } from "./reader.ts";

/**
 * The newest indexed block that this process has seen. No cached response may be older: a client never goes back in time,
 * except after a reorganisation or a restart of the indexer.
 */
export type NewestHead = {
  /** The newest block, at most 20 ms old; concurrent calls share one read. @throws as `IndexReader.head`, and after 300 ms */
  get(): Promise<AsOf>;
  /** The newest block seen so far, however old. */
  known(): AsOf | undefined;
  /** Records the head of a snapshot. `begun`: when its read began, by `performance.now`. */
  learn(asOf: AsOf, begun: number): void;
};

/** Maximum age of the newest block behind a cached response, in ms: far below the time between two blocks. */
const HEAD_TTL_MS = 20;
/** Longest wait for the newest block, in ms: without it the answer is read from the tables. */
const READ_TIMEOUT_MS = 300;

export function createNewestHead(index: Pick<IndexReader, "head">): NewestHead {
  const { known: newest, learn } = createNewestBlock();
  let reading: Promise<AsOf> | undefined;

  async function read(): Promise<AsOf> {
    const begun = performance.now();
    try {
      const asOf = await within(READ_TIMEOUT_MS, index.head(), databaseUnavailable);
      learn(asOf, begun);
      return newest()?.asOf ?? asOf;
    } finally {
      reading = undefined;
    }
  }

  return {
    learn,
    known: () => newest()?.asOf,
    async get() {
      const known = newest();
      if (known && performance.now() - known.begun < HEAD_TTL_MS) return known.asOf;
      reading ??= read();
      return reading;
    },
  };
}
