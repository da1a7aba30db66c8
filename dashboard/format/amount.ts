/** Amounts as people read them, without losing a digit: integers never pass through a floating-point number. */

/** What an amount is counted in, its decimals, and the fewest digits after the point that are shown. */
export const units = {
  usdc: { symbol: "USDC", decimals: 6, least: 2 },
  /** Bonds, in whole dollars of face value. */
  dollars: { symbol: "USD", decimals: 0, least: 0 },
  token: { symbol: "PCT", decimals: 18, least: 0 },
  ether: { symbol: "ETH", decimals: 18, least: 0 },
  /** Fees per gas. */
  gwei: { symbol: "gwei", decimals: 9, least: 0 },
  /** Prices of the chain's feeds, and of the token. */
  feedPrice: { symbol: "USD", decimals: 8, least: 2 },
  price: { symbol: "USD", decimals: 18, least: 2 },
  count: { symbol: "", decimals: 0, least: 0 },
} as const;
export type Unit = keyof typeof units;

/** An integer of the API: decimal digits, or already read. */
export type Integer = string | number | bigint;

/** The language of the page, so that numbers and words agree. */
const LOCALE = "en";
const integers = new Intl.NumberFormat(LOCALE, { maximumFractionDigits: 0 });
const minus = "−";

/** The digits before and after the point, with grouping. */
export type AmountParts = { readonly whole: string; readonly fraction: string };

/** An integer with grouping: a block's number, a count. */
export const whole = (value: Integer): string => integers.format(BigInt(value));

/** How many digits stand after the point. */
export type Digits = {
  /** Cuts off the others, without rounding: for sentences and axes, where the exact amount stands in the title. */
  readonly digits?: number | undefined;
  /** At least so many, filled up with zeros; the unit's usual number if left out. */
  readonly least?: number | undefined;
};

/** The digits of an amount. */
export function amountParts(value: Integer, unit: Unit, { digits, least }: Digits = {}): AmountParts {
  const { decimals, least: usual } = units[unit];
  const integer = BigInt(value);
  const text = (integer < 0n ? -integer : integer).toString().padStart(decimals + 1, "0");
  const point = text.length - decimals;
  const most = digits ?? decimals;
  const fraction = text.slice(point).slice(0, most).replace(/0+$/, "");
  return {
    whole: (integer < 0n ? minus : "") + integers.format(BigInt(text.slice(0, point))),
    fraction: fraction.padEnd(Math.min(least ?? usual, most), "0"),
  };
}

/** An amount without its unit: `1,234.50`. */
export function amountText(value: Integer, unit: Unit, digits?: Digits): string {
  const { whole: before, fraction } = amountParts(value, unit, digits);
  return fraction === "" ? before : `${before}.${fraction}`;
}

/** An amount with its unit: `1,234.50 USDC`. */
export function amountWithUnit(value: Integer, unit: Unit, digits?: Digits): string {
  const { symbol } = units[unit];
  const text = amountText(value, unit, digits);
  return symbol === "" ? text : `${text} ${symbol}`;
}

/** An amount as a number, for the height of a bar: exact to 15 digits. */
export const amountNumber = (value: Integer, unit: Unit): number =>
  Number(value) / 10 ** units[unit].decimals;

/** Short forms for axes: `1.2K`. */
const short = new Intl.NumberFormat(LOCALE, { notation: "compact", maximumFractionDigits: 2 });
export const shortNumber = (value: number): string => short.format(value);

/** A ratio of the API as a percentage: `0.082150` is `8.215 %`. The digits are moved, not computed; `digits` cuts. */
export function percentText(ratio: string, digits?: number): string {
  const [before = "0", after = ""] = ratio.replace("-", "").split(".");
  const moved = after.padEnd(2, "0");
  const rest = moved.slice(2).slice(0, digits).replace(/0+$/, "");
  const text = integers.format(BigInt(before + moved.slice(0, 2)));
  return `${ratio.startsWith("-") ? minus : ""}${text}${rest === "" ? "" : `.${rest}`} %`;
}

/** Basis points as a percentage. */
export const bpsText = (bps: number): string => percentText((bps / 10_000).toFixed(4));

const plural = new Intl.PluralRules(LOCALE);
/** A number with its noun: `1 policy`, `27 policies`. */
export const counted = (count: Integer, one: string, many: string): string =>
  `${integers.format(BigInt(count))} ${plural.select(Number(count)) === "one" ? one : many}`;
