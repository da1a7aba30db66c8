import { percentText } from "../format/amount.ts";

/**
 * A ratio of the API (`"0.082150"`) as a percentage, with `digits` after the point; the title has all. Null is a dash, with
 * the reason as its title.
 */
export const Percent = ({
  ratio,
  none,
  digits = 2,
}: {
  ratio: string | null;
  none: string;
  digits?: number;
}) =>
  ratio === null ? (
    <span title={none}>–</span>
  ) : (
    <span class="amount" title={percentText(ratio)}>
      {percentText(ratio, digits)}
    </span>
  );

/** For sorting: ratios of the API have equally many digits after the point. Null comes below all others. */
export const ratioOrder = (ratio: string | null): bigint =>
  ratio === null ? -(10n ** 18n) : BigInt(ratio.replace(".", ""));
