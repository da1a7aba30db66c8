/** The vault counts in whole dollars (bonds, capacity) and in dollars with 18 decimals; USDC has 6 decimals. */

const DOLLAR_IN_USDC = 10n ** 6n;
/** A dollar with 18 decimals; also the unit of tokens and of their prices. */
export const UNIT = 10n ** 18n;

export const usdcOfDollars = (dollars: bigint): bigint => dollars * DOLLAR_IN_USDC;

/** Whole dollars of USDC, rounded down. */
export const dollarsOfUsdc = (usdc: bigint): bigint => usdc / DOLLAR_IN_USDC;

/** USDC of dollars with 18 decimals, rounded down. */
export const usdcOfVault = (dollars: bigint): bigint => dollars / (UNIT / DOLLAR_IN_USDC);
export const vaultOfUsdc = (usdc: bigint): bigint => usdc * (UNIT / DOLLAR_IN_USDC);

/** The vault reserves the whole dollars of a payout, which are also its bond; USDC with 6 decimals. */
export const reservedFor = (payout: bigint): bigint => usdcOfDollars(dollarsOfUsdc(payout));

/** Tokens for dollars at a price, rounded down; all with 18 decimals. */
export const tokensFor = (dollars: bigint, price: bigint): bigint => (dollars * UNIT) / price;

/** The week of the redemption throttle: floor(time / 7 days); in seconds. */
export const WEEK_SECONDS = 604_800n;
export const weekOf = (time: bigint): bigint => time / WEEK_SECONDS;

/** The id of a queue's entry is its week times this number, plus its place: the vault queues so many entries a week at most. */
export const QUEUE_IDS_PER_WEEK = 10_000n;

export const BASIS_POINTS = 10_000n;

/** Dollars that may be redeemed in a week with this reserve at this price; as the vault computes it, rounded down twice. */
export const weekCap = (reserve: bigint, price: bigint, capBps: bigint): bigint =>
  (((reserve * price) / UNIT) * capBps) / BASIS_POINTS;

/** The unused part of a limit; 0 where more than the limit was used. */
export const unused = (limit: bigint, used: bigint): bigint => (limit > used ? limit - used : 0n);
