/** Why the indexer ends by itself, by its exit code. A supervisor starts it again after the last two. */
export const exitCodes = {
  /** Another indexer serves the schema. */
  schemaTaken: 3,
  /** Readers see a build with a feed's new aggregator or a product's new adapter: the next start goes on with it. */
  newSource: 4,
  /** A commit failed (`patches/`): the next start reads the blocks again. */
  lostCommit: 5,
} as const;
