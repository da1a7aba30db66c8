import type { Hex } from "viem";
import { type ChainReads, createChainReads } from "./chain/chain-reads.ts";
import type { Dependencies } from "./dependencies.ts";
import { createNewestHead, type NewestHead } from "./index/newest-head.ts";
import { createProductNames } from "./index/product-names.ts";
import { createIndexReader, type IndexReader } from "./index/reader.ts";
import { createKeptAnswers, type KeptAnswers } from "./index/response-cache.ts";
import { createIndexedAnswers, type IndexedAnswers } from "./index/responses.ts";

/** The reads that routes share, each of them made once per app so that concurrent requests join. */
export type Readers = {
  readonly index: IndexReader;
  readonly newest: NewestHead;
  readonly kept: KeptAnswers;
  readonly answers: IndexedAnswers;
  readonly chain: ChainReads;
  readonly productNames: (ids: readonly Hex[]) => Promise<Map<Hex, string>>;
};

export function createReaders(deps: Dependencies): Readers {
  const index = createIndexReader(deps);
  const newest = createNewestHead(index);
  const kept = createKeptAnswers(deps.standing);
  return {
    index,
    newest,
    kept,
    answers: createIndexedAnswers(newest, kept),
    chain: createChainReads(deps),
    productNames: createProductNames(index),
  };
}
