/** Amounts as people write them. */
import { type Unit, units } from "./amount.ts";

/** The integer behind a written amount, or the rule that it breaks. */
export type ParsedAmount =
  | { readonly ok: true; readonly value: bigint }
  | { readonly ok: false; readonly rule: string };

const broken = (rule: string): ParsedAmount => ({ ok: false, rule });

/**
 * Reads an amount such as `1234.5`, by digits alone: no digit passes through a floating-point number. A comma is refused, for
 * it divides thousands in one country and decimals in another.
 */
export function parseAmount(text: string, unit: Unit): ParsedAmount {
  const { decimals } = units[unit];
  const [, whole = "", fraction = ""] = /^(\d{1,30})(?:\.(\d{1,30}))?$/.exec(text.trim()) ?? [];
  if (whole === "") {
    return broken(
      decimals === 0 ? "Write digits only, such as 250." : "Write digits and one point, such as 1234.50.",
    );
  }
  if (fraction.length > decimals)
    return broken(
      decimals === 0 ? "Write a whole number." : `Write at most ${decimals} digits after the point.`,
    );
  const value = BigInt(whole + fraction.padEnd(decimals, "0"));
  return value === 0n ? broken("Write more than zero.") : { ok: true, value };
}
