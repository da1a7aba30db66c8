/** The vault counts in whole dollars (bonds, capacity) and in dollars with 18 decimals; USDC has 6 decimals. */

const DOLLAR_IN_USDC = 10n ** 6n;
/** A dollar with 18 decimals; also the unit of tokens and of their prices. */
export const UNIT = 10n ** 18n;

export const usdcOfDollars = (dollars: bigint): bigint => dollars * DOLLAR_IN_USDC;

/** USDC of dollars with 18 decimals, rounded down. */
export const usdcOfVault = (dollars: bigint): bigint => dollars / (UNIT / DOLLAR_IN_USDC);

/** What the vault reserves for a payout, USDC with 6 decimals: its whole dollars, which are also its bond. */
export const reservedFor = (payout: bigint): bigint => payout - (payout % DOLLAR_IN_USDC);

/** Tokens for dollars at a price, rounded down; all with 18 decimals. */
export const tokensFor = (dollars: bigint, price: bigint): bigint => (dollars * UNIT) / price;

/** The week of the redemption throttle: floor(time / 7 days); in seconds. */
export const WEEK_SECONDS = 604_800n;
export const weekOf = (time: bigint): bigint => time / WEEK_SECONDS;
