/** The rules by which the shields observe a price (`contracts/FlashShield.sol`, `contracts/libraries/`); they have no getters. */

/** The greatest age of a price, in seconds: `Price.MAX_AGE`. */
export const MAX_PRICE_AGE = 3600;
/** After an outage of the sequencer no price counts for this time, in seconds: `Sequencer.GRACE`. */
export const SEQUENCER_GRACE = 3600;
/** Price feeds have 8 decimals, prices of the API 18. */
export const FEED_TO_PRICE = 10n ** 10n;
/** Observations, by transactions, until a policy is paid. */
export const OBSERVATIONS = 3;
/** Seconds from the purchase until the first observation. */
export const DWELL = 300;
/** Seconds between two observations, of newer rounds in other blocks. */
export const OBSERVATION_INTERVAL = 60;
/** The last second in which the next observation of a policy leaves time for those after it. Times in Unix seconds. */
export const lastMomentOf = (expiresAt: bigint, observations: number): bigint =>
  expiresAt - BigInt(OBSERVATION_INTERVAL * (OBSERVATIONS - 1 - observations));
/** The highest price that triggers, rounded down as the shields do; both prices have 8 decimals. */
export const barrierOf = (strike: bigint, dropBps: number): bigint =>
  (strike * BigInt(10_000 - dropBps)) / 10_000n;
