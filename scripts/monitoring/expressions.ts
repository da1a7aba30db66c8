/** Parts of PromQL expressions. They take descriptions of metrics, never names, so that no expression names a metric that nothing exports. */
import type { AnyMetric, HistogramDescription } from "../../lib/metrics/description.ts";

/** Label matchers, such as `{ purpose: "trigger" }`, and `{ status: "~5.." }` for a regular expression. */
export type Matchers = Readonly<Record<string, string>>;

const matcher = ([label, value]: [string, string]) =>
  value.startsWith("~") ? `${label}=~"${value.slice(1)}"` : `${label}="${value}"`;

const matchers = (given: Matchers): string => {
  const all = Object.entries(given).map(matcher);
  return all.length === 0 ? "" : `{${all.join(",")}}`;
};

/** The samples of a metric. */
export const samples = ({ name }: AnyMetric, given: Matchers = {}): string => `${name}${matchers(given)}`;

/** How often a counter rises in a second, on average over `window`. */
export const rate = (metric: AnyMetric, window: string, given: Matchers = {}): string =>
  `rate(${samples(metric, given)}[${window}])`;

/** How far a counter rose in `window`. */
export const increase = (metric: AnyMetric, window: string, given: Matchers = {}): string =>
  `increase(${samples(metric, given)}[${window}])`;

/** The sum over all processes, or one for each value of the labels `by`. */
export const sum = (expression: string, ...by: string[]): string =>
  by.length === 0 ? `sum(${expression})` : `sum by (${by.join(", ")}) (${expression})`;

/** The greatest over all processes, or one for each value of the labels `by`. */
export const max = (expression: string, ...by: string[]): string =>
  by.length === 0 ? `max(${expression})` : `max by (${by.join(", ")}) (${expression})`;

/** A quantile of a histogram over `window`, for each value of the labels `by`. */
export function quantile(
  q: number,
  { name }: HistogramDescription<string>,
  window: string,
  { by = [] }: { by?: readonly string[] } = {},
): string {
  const labels = ["le", ...by].join(", ");
  return `histogram_quantile(${q}, sum by (${labels}) (rate(${name}_bucket[${window}])))`;
}

/** The share of a histogram's observations above `bound`, which is one of its buckets, over `window`. */
export function shareAbove(
  { name, buckets }: HistogramDescription<string>,
  bound: number,
  window: string,
  given: Matchers = {},
): string {
  if (!buckets.includes(bound)) throw new Error(`${name} has no bucket ${bound}`);
  const within = `sum(rate(${name}_bucket${matchers({ ...given, le: String(bound) })}[${window}]))`;
  return `1 - ${within} / sum(rate(${name}_count${matchers(given)}[${window}]))`;
}
