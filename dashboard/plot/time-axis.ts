/** Times below a picture, day before month and 24 hours, as everywhere else on the page. */
import type uPlot from "uplot";

const [HOUR, DAY] = [3600, 86_400];

/** One line a label, and a second one where the year, or the day, begins. uPlot fixes the places of the eight values of a rule. */
const rule = (
  step: number,
  label: string,
  { year, day, minute }: { year?: string; day?: string; minute?: string } = {},
) => [step, label, year ?? null, null, day ?? null, null, minute ?? null, null, 1];

const days = { year: "\n{D} {MMM} {YYYY}", day: "\n{D} {MMM}" };

/** The labels by the time between two of them. */
export const timeLabels: uPlot.Axis.Values = [
  rule(365 * DAY, "{YYYY}"),
  rule(28 * DAY, "{MMM}", { year: "\n{YYYY}" }),
  rule(DAY, "{D} {MMM}", { year: "\n{YYYY}" }),
  rule(HOUR, "{HH}:{mm}", days),
  rule(60, "{HH}:{mm}", days),
  rule(1, ":{ss}", { ...days, minute: "\n{HH}:{mm}" }),
];
