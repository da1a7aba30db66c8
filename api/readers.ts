import type { Hex } from "viem";
import { type ChainReads, createChainReads } from "./chain.ts";
import type { Dependencies } from "./dependencies.ts";
import { createIndexedAnswers, type IndexedAnswers } from "./indexed-answers.ts";
import { createProductNames } from "./product-names.ts";
import { createIndexReader, type IndexReader } from "./queries/index-reader.ts";

/** The reads that routes share, each of them made once per app so that concurrent requests join. */
export type Readers = {
  readonly index: IndexReader;
  readonly answers: IndexedAnswers;
  readonly chain: ChainReads;
  readonly productNames: (ids: readonly Hex[]) => Promise<Map<Hex, string>>;
};

export function createReaders(deps: Dependencies): Readers {
  const index = createIndexReader(deps);
  return {
    index,
    answers: createIndexedAnswers(index),
    chain: createChainReads(deps),
    productNames: createProductNames(index),
  };
}
