/** A measured value and its limit. */
export type Finding = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** Undefined for a value without a limit. */
  readonly limit?: number;
  /**
   * Another value of the same run, the share of it that this value must reach, the share that it should reach, and the share
   * that it must not exceed.
   */
  readonly compared?: {
    readonly with: number;
    readonly limit?: number;
    readonly least?: number;
    readonly most?: number;
  };
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

const number = (value: number) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

function aimOf({ value, unit, limit, compared }: Finding): string {
  if (limit !== undefined) return `   limit ${number(limit)} ${unit}   ratio ${(value / limit).toFixed(2)}`;
  if (compared === undefined) return "";
  const must = compared.limit === undefined ? "" : `   limit at least ${compared.limit}`;
  const should = compared.least === undefined ? "" : `   aim at least ${compared.least}`;
  const most = compared.most === undefined ? "" : `   limit at most ${compared.most}`;
  return `   ratio ${(value / compared.with).toFixed(2)}${must}${should}${most}`;
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
