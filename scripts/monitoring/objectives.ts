/** What the service promises its users, as numbers. docs/operating.md states the same. */
export const objectives = {
  /** Policies that could have been triggered and were not. */
  missedTriggers: 0,
  /** Seconds from a due trigger to its block, for 99 of 100. */
  dueToMined: { seconds: 60, quantile: 0.99 },
  /** Seconds from an accepted purchase to its broadcast, for 95 of 100. */
  acceptedToBroadcast: { seconds: 0.1, quantile: 0.95 },
  /** Blocks that the index may be behind the chain, for 99.9 % of the time. */
  indexLag: { blocks: 2, share: 0.999 },
  /** Seconds past its time to live within which an unmined purchase is replaced by an empty transfer. */
  unknownFateGrace: 60,
} as const;
