/** The redemption throttle and the order of payments, by the rules of `RedemptionThrottle.sol` and `BondVault.sol`. */

export const SECONDS_PER_WEEK = 604_800n;
/** Part of the reserve at the start of a week that may be paid in it, in basis points: `THROTTLE_BPS`. */
const THROTTLE_BPS = 108n;
const BASIS_POINTS = 10_000n;
/** Tokens for a dollar at a price of 1: dollars have no decimals, tokens and prices 18. */
const DOLLAR_TO_TOKENS = 10n ** 36n;

/** The redemption epoch of a time, `floor(time / 7 days)`; the time in Unix seconds. */
export const weekOf = (time: bigint): bigint => time / SECONDS_PER_WEEK;

/** Tokens for a redemption at a price, both with 18 decimals. */
export const tokensFor = (dollars: bigint, price: bigint): bigint => (dollars * DOLLAR_TO_TOKENS) / price;

const limitOf = (reserve: bigint) => (reserve * THROTTLE_BPS) / BASIS_POINTS;

/** What happened to the reserve in the current week, tokens with 18 decimals. */
export type WeekSums = { readonly paid: bigint; readonly deposited: bigint; readonly burned: bigint };

export type Throttle = {
  /** The week's redemption epoch. */
  readonly week: bigint;
  /** The reserve now; tokens with 18 decimals, as the other amounts. */
  readonly reserve: bigint;
  /** What may be paid in the whole week, what was paid so far, and what is left. */
  readonly limit: bigint;
  readonly paid: bigint;
  readonly left: bigint;
};

/** The throttle of the week of `now`. The reserve at the week's start follows from all its changes since. */
export function throttleAt(now: bigint, reserve: bigint, { paid, deposited, burned }: WeekSums): Throttle {
  const limit = limitOf(reserve + paid - deposited + burned);
  return { week: weekOf(now), reserve, limit, paid, left: limit > paid ? limit - paid : 0n };
}

export type WaitingEntry = { readonly usdAmount: bigint; readonly targetEpoch: bigint };

/**
 * The week in which the vault will pay each of the waiting entries, given in the queue's order, if the price stays as it is,
 * nobody else redeems or changes the reserve, and the queue is processed at the start of each week. Null when the reserve
 * does not suffice: then the queue stands still.
 */
export function paymentWeeks(
  entries: readonly WaitingEntry[],
  throttle: Throttle,
  price: bigint,
): (bigint | null)[] {
  let { week, left, reserve } = throttle;
  // A week's first payment may exceed the throttle.
  let isFirst = throttle.paid === 0n;
  let isStuck = false;
  const startWeek = (next: bigint) => {
    [week, left, isFirst] = [next, limitOf(reserve), true];
  };
  return entries.map(({ usdAmount, targetEpoch }) => {
    const tokens = tokensFor(usdAmount, price);
    if (targetEpoch > week) startWeek(targetEpoch);
    if (tokens > left && !isFirst) startWeek(week + 1n);
    isStuck ||= tokens > reserve;
    if (isStuck) return null;
    reserve -= tokens;
    left = left > tokens ? left - tokens : 0n;
    isFirst = false;
    return week;
  });
}
