/**
 * Constants of the vault's contract, for figures that follow from the index alone; the doctor compares them with the chain's. What is
 * decided by them is read from the chain.
 */

/** The part of the reserve's value that the vault may owe, in basis points: `SAFETY_FACTOR_BPS`. */
export const SAFETY_FACTOR_BPS = 5000n;
/** The part of it that may be redeemed in a week: `MAX_REDEMPTION_PER_EPOCH_BPS`. */
export const WEEK_CAP_BPS = 108n;
/** Entries of the queue, paid ones too, that one call looks at: `MAX_PROCESS_PER_CALL`. */
export const ENTRIES_PER_CALL = 20n;
