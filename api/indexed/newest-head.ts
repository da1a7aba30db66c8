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
  /** The newest block if it was read within 20 ms. It is read again ahead of that, so that requests in a row do not wait. */
  fresh(): AsOf | undefined;
  /** The newest block seen so far, however old. */
  known(): AsOf | undefined;
  /** Records the head of a snapshot. `begun`: when its read began, by `performance.now`. */
  learn(asOf: AsOf, begun: number): void;
};

/** Maximum age of the newest block behind a cached response, in ms: far below the time between two blocks. */
const HEAD_TTL_MS = 20;
/** The age from which the next request reads the newest block again, without waiting for it, in ms. */
const REFRESH_MS = 12;
/** Longest wait for the newest block, in ms: without it the answer is read from the tables. */
const READ_TIMEOUT_MS = 300;

export function createNewestHead(index: Pick<IndexReader, "head">): NewestHead {
  const { known: newest, learn } = createNewestBlock();
  let reading: Promise<AsOf> | undefined;

  function fresh(): AsOf | undefined {
    const known = newest();
    if (!known) return undefined;
    const age = performance.now() - known.begun;
    // Whoever waits for the next read reports its failure.
    if (age >= REFRESH_MS) share().catch(() => {});
    return age < HEAD_TTL_MS ? known.asOf : undefined;
  }

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

  function share(): Promise<AsOf> {
    reading ??= read();
    return reading;
  }

  return {
    learn,
    fresh,
    known: () => newest()?.asOf,
    get: async () => fresh() ?? share(),
  };
}
