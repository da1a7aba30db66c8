/** Adds a quarter to a simulation's gas: transactions mined in between may change storage that the call reads. */
export const withMargin = (gas: bigint): bigint => (gas * 5n) / 4n;

/**
 * The most gas that a service transaction's simulation may take. Claimants choose the addresses that get ether: we pay for the code
 * of a contract that receives it, and our node runs that code in each simulation.
 */
export const MAX_SERVICE_TRANSACTION_GAS = 100_000n;

/** The highest gas limit with which a service transaction is signed. */
export const SERVICE_TRANSACTION_GAS_LIMIT = withMargin(MAX_SERVICE_TRANSACTION_GAS);
