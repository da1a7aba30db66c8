/** What a plot shows. */
import type { Integer, Unit } from "../format/amount.ts";
import { localMoment, utcDay, utcMonth } from "../format/time.ts";

/** A value at a time, Unix seconds: that of a moment, or the start of a bucket. */
export type Point = { readonly at: number; readonly value: Integer };

/** A level that the reader compares with: a trigger's price, a limit. */
export type Level = { readonly value: Integer; readonly label: string };

/** How a time is named: a moment is local, buckets are of UTC. */
export type Period = "moment" | "day" | "week" | "month";

const names: Readonly<Record<Period, (at: number) => string>> = {
  moment: localMoment,
  day: utcDay,
  week: (at) => `Week of ${utcDay(at)}`,
  month: utcMonth,
};

export const periodName = (period: Period, at: number): string => names[period](at);

/** The head of the column of times. */
export const periodHeads: Readonly<Record<Period, string>> = {
  moment: "Time",
  day: "Day (UTC)",
  week: "Week (UTC)",
  month: "Month (UTC)",
};

/** What a picture is drawn from. Bars begin at zero; a line shows the range of its values. */
export type Picture = {
  readonly kind: "bars" | "line" | "steps";
  readonly unit: Unit;
  readonly period: Period;
  readonly points: readonly Point[];
  readonly levels: readonly Level[];
};
