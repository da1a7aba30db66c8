/** A measured value, and its limit if it has one. */
export type Finding = {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  readonly atLeast?: number;
  readonly atMost?: number;
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

/** The values of this run that missed their limits. */
export const missed: string[] = [];

const number = (value: number) => value.toFixed(value >= 100 ? 0 : value >= 10 ? 1 : 2);

function verdictOf(title: string, { what, value, unit, atLeast, atMost }: Finding): string {
  if (atLeast === undefined && atMost === undefined) return "";
  const passed =
    value >= (atLeast ?? Number.NEGATIVE_INFINITY) && value <= (atMost ?? Number.POSITIVE_INFINITY);
  if (!passed) missed.push(`${title.split(",")[0]}, ${what}`);
  const limit = atLeast === undefined ? `at most ${number(atMost ?? 0)}` : `at least ${number(atLeast)}`;
  return `   limit ${limit} ${unit}`.padEnd(28) + (passed ? "pass" : "MISS");
}

/** Prints findings as a table, with limit and verdict. */
export function report(title: string, findings: readonly Finding[]): void {
  console.log(`\n${title}`);
  for (const finding of findings) {
    const { what, value, unit } = finding;
    console.log(
      `  ${what.padEnd(66)} ${number(value).padStart(8)} ${unit.padEnd(5)}${verdictOf(title, finding)}`.trimEnd(),
    );
  }
}
