/** Gas above a simulation's need: others may be mined in between, and change storage that the call reads. */
export const withMargin = (gas: bigint): bigint => (gas * 5n) / 4n;

/**
 * The most gas that an errand's simulation may take: ether goes to addresses that strangers choose, and what a contract
 * does when it gets some is paid by us, and computed by our node in each simulation.
 */
export const MAX_ERRAND_GAS = 100_000n;

/** The highest gas limit with which an errand is signed. */
export const ERRAND_GAS_LIMIT = withMargin(MAX_ERRAND_GAS);
