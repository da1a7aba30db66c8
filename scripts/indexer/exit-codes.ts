/** Why the indexer ends by itself, by its exit code. A supervisor starts it again after the last two. */
export const exitCodes = {
  /** Another indexer serves the schema. */
  schemaTaken: 3,
  /** A feed has a new aggregator, or a product a new adapter: the next start indexes it, as another build. */
  newSource: 4,
  /** A commit failed (`patches/`): the next start reads the blocks again. */
  lostCommit: 5,
} as const;
