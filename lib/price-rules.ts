/** What the shields demand of a price (`contracts/libraries/Price.sol`, `Sequencer.sol`). */

/** The greatest age of a price, in seconds: `Price.MAX_AGE`. */
export const MAX_PRICE_AGE = 3600;
/** After an outage of the sequencer no price counts for this time, in seconds: `Sequencer.GRACE`. */
export const SEQUENCER_GRACE = 3600;
/** Price feeds have 8 decimals, the shields' prices 18. */
export const FEED_TO_PRICE = 10n ** 10n;
/** The highest price that triggers, rounded down as the shields do; both prices have 8 decimals. */
export const barrierOf = (strike: bigint, dropBps: number): bigint =>
  (strike * BigInt(10_000 - dropBps)) / 10_000n;
/** Rounds of a proof: `CONFIRMATIONS` of the shield. */
export const CONFIRMATIONS = 3;
/** A bond is a whole dollar at least; for a smaller payout (6 decimals) the vault issues none, and the trigger reverts. */
export const MINIMUM_PAYOUT = 1_000_000;
