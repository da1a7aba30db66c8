import { amountParts, amountWithUnit, type Integer, type Unit, units } from "../format/amount.ts";

/**
 * An amount with every digit. The digits after the point step back, so that the size is seen first.
 * @param digits cuts off the others without rounding; the title has all of them
 * @param least digits after the point at least; 0 in a sentence, where zeros say nothing
 * @param bare leaves the unit out, where a head has it
 */
export function Amount({
  value,
  unit,
  digits,
  least,
  bare = false,
}: {
  value: Integer;
  unit: Unit;
  digits?: number | undefined;
  least?: number | undefined;
  bare?: boolean;
}) {
  const { whole, fraction } = amountParts(value, unit, { digits, least });
  return (
    <data class="amount" value={String(value)} title={amountWithUnit(value, unit)}>
      {whole}
      {fraction !== "" && <span class="fraction">.{fraction}</span>}
      {!bare && units[unit].symbol !== "" && <span class="unit"> {units[unit].symbol}</span>}
    </data>
  );
}
