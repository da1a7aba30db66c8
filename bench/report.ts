/** A measured value and its limit. */
export type Finding = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined for a value without a limit. */
  readonly limit?: number;
  /** Another value of the same run, and the share of it that this value should reach. */
  readonly compared?: { readonly with: number; readonly least?: number };
};

/** The median; of an even number of values, the lower of the two in the middle. */
export function median(values: readonly number[]): number {
  return percentile(values, 50);
}

/** The smallest of the values such that `share` percent of them are not above it. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const value = sorted[Math.max(0, Math.ceil((sorted.length * share) / 100) - 1)];
  if (value === undefined) throw new Error("no values to take a percentile of");
  return value;
}

const number = (value: number) => (value >= 100 ? value.toFixed(0) : value.toFixed(1));

function aimOf({ value, unit, limit, compared }: Finding): string {
  if (limit !== undefined) return `   limit ${number(limit)} ${unit}   ratio ${(value / limit).toFixed(2)}`;
  if (compared === undefined) return "";
  const least = compared.least === undefined ? "" : `   aim at least ${compared.least}`;
  return `   ratio ${(value / compared.with).toFixed(2)}${least}`;
}

/**
 * Prints findings as a table. The ratio is the value divided by its limit (below 1 is within the limit), or divided by the
 * value that it is compared with.
 */
export function report(title: string, findings: readonly Finding[]): void {
  console.log(`\n${title}`);
  for (const finding of findings) {
    const { what, value, unit } = finding;
    console.log(
      `  ${what.padEnd(52)} ${number(value).padStart(8)} ${unit.padEnd(4)}${aimOf(finding)}`.trimEnd(),
    );
  }
}
