/** Prices of bonds against their face value of a dollar. */

/** A dollar in USDC's units. */
export const FACE = 1_000_000n;
const SECONDS_PER_YEAR = 365n * 86_400n;
const DIGITS = 6;
const SCALE = 10n ** BigInt(DIGITS);

/** `part / whole` with 6 digits after the point, rounded towards zero, as the API writes ratios. */
function ratio(part: bigint, whole: bigint): string {
  const scaled = (part * SCALE) / whole;
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(DIGITS + 1, "0");
  return `${scaled < 0n ? "-" : ""}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}

/** A price per bond (USDC, 6 decimals) as a ratio of its face value. */
export const ofFace = (unitPrice: string): string => ratio(BigInt(unitPrice), FACE);

/**
 * The yearly yield of a bond bought at this price (USDC, 6 decimals), before fees and without compounding: that of
 * `implied_yield` of the API. Null from maturity on (Unix seconds), and for a price of 0.
 */
export function impliedYield(unitPrice: string, maturity: number, now: number): string | null {
  const price = BigInt(unitPrice);
  if (price === 0n || maturity <= now) return null;
  return ratio((FACE - price) * SECONDS_PER_YEAR, price * BigInt(maturity - now));
}
