/**
 * The most gas that a transfer's simulation may take: ether goes to addresses that strangers choose, and what a contract
 * does when it gets some is paid by us, and computed by our node in each simulation.
 */
export const MAX_GAS = 100_000n;

/** Gas above the simulation's need: what it reads may change before it is mined. */
export const withMargin = (gas: bigint): bigint => (gas * 5n) / 4n;

/** What both transfers of a claim take at most. */
export const CLAIM_GAS = 2n * withMargin(MAX_GAS);
