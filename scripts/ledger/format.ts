/** Formats values and tables for `npm run ledger`. */
import { formatEther, formatUnits, getAddress, type Hex } from "viem";

const numeric = /^-?[\d.]/;

/** Prints a table with its title. Columns of numbers are aligned right; `empty` is printed when there are no rows. */
export function printTable(
  title: string,
  columns: readonly string[],
  rows: readonly (readonly string[])[],
  empty = "none",
): void {
  console.log(`\n${title}`);
  if (rows.length === 0) {
    console.log(`  ${empty}`);
    return;
  }
  const width = (column: number) =>
    Math.max(columns[column]?.length ?? 0, ...rows.map((row) => row[column]?.length ?? 0));
  const right = (column: number) =>
    rows.every((row) => row[column] === "–" || numeric.test(row[column] ?? ""));
  const line = (cells: readonly string[]) =>
    cells
      .map((cell, i) => (right(i) ? cell.padStart(width(i)) : cell.padEnd(width(i))))
      .join("  ")
      .trimEnd();
  for (const cells of [columns, ...rows]) console.log(`  ${line(cells)}`);
}

/** A duration in seconds, minutes or hours. */
export function duration(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 120) return `${Math.max(0, seconds).toFixed(0)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(0)} h`;
}

export const orDash = (value: string | number | null): string => (value === null ? "–" : String(value));
/** A whole address, for operators to copy. */
export const addressText = (address: Hex): string => getAddress(address);
/** Wei as ETH, with six decimals. */
export const eth = (wei: bigint): string => Number(formatEther(wei)).toFixed(6);
/** USDC base units (6 decimals) as dollars. */
export const dollars = (amount: bigint): string => Number(formatUnits(amount, 6)).toFixed(2);
