/**
 * A metric's name, help and labels are stated once, as a description. Processes open it, and alert rules and boards name it, so that
 * neither can name a metric that does not exist.
 */
import { Counter, Gauge, Histogram, type Registry } from "prom-client";

type Description<Kind extends string, Label extends string> = {
  readonly kind: Kind;
  readonly name: string;
  readonly help: string;
  readonly labels: readonly Label[];
};
export type CounterDescription<Label extends string = never> = Description<"counter", Label>;
export type GaugeDescription<Label extends string = never> = Description<"gauge", Label>;
export type HistogramDescription<Label extends string = never> = Description<"histogram", Label> & {
  /** Upper bounds, in the metric's unit. */
  readonly buckets: readonly number[];
};
/** A metric of any kind. */
export type AnyMetric = Description<"counter" | "gauge" | "histogram", string>;

/** Describes a sum that only rises; its name ends with `_total`. */
export const counter = <Label extends string = never>(
  name: `${string}_total`,
  help: string,
  labels: readonly Label[] = [],
): CounterDescription<Label> => ({ kind: "counter", name, help, labels });

/** Describes a value of the moment. */
export const gauge = <Label extends string = never>(
  name: string,
  help: string,
  labels: readonly Label[] = [],
): GaugeDescription<Label> => ({ kind: "gauge", name, help, labels });

/** Describes a distribution over `buckets`. */
export const histogram = <Label extends string = never>(
  name: string,
  help: string,
  buckets: readonly number[],
  labels: readonly Label[] = [],
): HistogramDescription<Label> => ({ kind: "histogram", name, help, labels, buckets });

/** Registers a described metric. @throws when the registry has one of that name. */
export const openCounter = <Label extends string>(
  registry: Registry,
  { name, help, labels }: CounterDescription<Label>,
): Counter<Label> => new Counter({ name, help, labelNames: labels, registers: [registry] });

export const openGauge = <Label extends string>(
  registry: Registry,
  { name, help, labels }: GaugeDescription<Label>,
): Gauge<Label> => new Gauge({ name, help, labelNames: labels, registers: [registry] });

export const openHistogram = <Label extends string>(
  registry: Registry,
  { name, help, labels, buckets }: HistogramDescription<Label>,
): Histogram<Label> =>
  new Histogram({ name, help, labelNames: labels, buckets: [...buckets], registers: [registry] });
