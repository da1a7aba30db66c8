const DIGITS = 6;
const SCALE = 10n ** BigInt(DIGITS);

/** `part / whole` as a decimal fraction with 6 digits, rounded towards zero; null without a whole. */
export function ratio(part: bigint, whole: bigint): string | null {
  if (whole === 0n) return null;
  const scaled = (part * SCALE) / whole;
  const digits = String(scaled < 0n ? -scaled : scaled).padStart(DIGITS + 1, "0");
  return `${scaled < 0n ? "-" : ""}${digits.slice(0, -DIGITS)}.${digits.slice(-DIGITS)}`;
}
