import { formatEther, formatUnits, getAddress, type Hex } from "viem";
import type { StopTarget } from "./stops.ts";

/** Words and tables of `npm run ledger`. */

const numeric = /^-?[\d.]/;

/** A table with its title; columns of numbers stand to the right. `empty` is said instead of a table without rows. */
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

/** Seconds as a person reads them. */
export function inWords(seconds: number | null): string {
  if (seconds === null) return "–";
  if (seconds < 120) return `${Math.max(0, seconds).toFixed(0)} s`;
  if (seconds < 7200) return `${(seconds / 60).toFixed(0)} min`;
  return `${(seconds / 3600).toFixed(0)} h`;
}

export const orDash = (value: string | number | null): string => (value === null ? "–" : String(value));
/** An address in full: operators copy it. */
export const addressText = (address: Hex): string => getAddress(address);
/** What a stop covers, in the words of the command line. */
export function targetText(target: StopTarget): string {
  if (target.scope === "global") return "global";
  return target.scope === "wallet" ? `wallet ${addressText(target.wallet)}` : `key ${target.keyId}`;
}
/** Wei as ETH, to the last digit that matters. */
export const eth = (wei: bigint): string => Number(formatEther(wei)).toFixed(6);
/** USDC base units (6 decimals) as dollars. */
export const dollars = (amount: bigint): string => Number(formatUnits(amount, 6)).toFixed(2);
