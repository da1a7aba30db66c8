import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted, type Unit } from "../../format/amount.ts";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import type { Tone } from "../../parts/word.tsx";
import { Plot } from "../../plot/plot.tsx";
import { periodName } from "../../plot/points.ts";

const intervals = ["month", "week", "day"] as const;
const spans = { day: "30 days", week: "30 weeks", month: "30 months" } as const;

type Series = AnswerTo<"/api/v1/stats/series">;

/** A metric of the series, and how it is shown. */
type Trend = {
  readonly metric: Series["metric"];
  readonly title: string;
  readonly unit: Unit;
  readonly tone: Tone;
  /** Names the events behind the values: policies, burns. */
  readonly events: readonly [one: string, many: string];
  readonly empty: string;
};

const premiums: Trend = {
  metric: "premiums",
  title: "Premiums",
  unit: "usdc",
  tone: "accent",
  events: ["policy was bought", "policies were bought"],
  empty: "No policy was bought in this time.",
};
const payouts: Trend = {
  metric: "payouts",
  title: "Payouts",
  unit: "dollars",
  tone: "paid",
  events: ["policy was paid", "policies were paid"],
  empty: "No policy was triggered in this time, so nothing was paid.",
};
const burns: Trend = {
  metric: "burns",
  title: "Burned tokens",
  unit: "token",
  tone: "burned",
  events: ["burn", "burns"],
  empty: "No token was burned in this time.",
};

/** “4,986.19 USDC in 30 months by 23 policies; the most, 2,011.10 USDC, in Nov 2026.” */
function sentenceOf({ unit, events: [one, many] }: Trend, { buckets, interval }: Series): string {
  const total = buckets.reduce((sum, { value }) => sum + BigInt(value), 0n);
  const events = buckets.reduce((sum, bucket) => sum + bucket.events, 0);
  const most = buckets.reduce<Series["buckets"][number] | undefined>(
    (best, bucket) => (best && BigInt(best.value) >= BigInt(bucket.value) ? best : bucket),
    undefined,
  );
  if (!most || total === 0n) return `Nothing in the last ${spans[interval]}.`;
  const when = periodName(interval, Number(most.start));
  return `${amountWithUnit(total, unit, { digits: 2, least: 0 })} in ${spans[interval]}, ${counted(events, one, many)}; the most, ${amountWithUnit(most.value, unit, { digits: 2, least: 0 })}: ${when}.`;
}

function TrendPlot({ trend, series }: { trend: Trend; series: Series }) {
  const points = useMemo(
    () => series.buckets.map(({ start, value }) => ({ at: Number(start), value })),
    [series],
  );
  const { metric, title, unit, tone, empty } = trend;
  return (
    <Plot
      title={title}
      sentence={sentenceOf(trend, series)}
      kind="bars"
      unit={unit}
      tone={tone}
      period={series.interval}
      points={points}
      source={api.address("/api/v1/stats/series", { query: { metric, interval: series.interval } })}
      empty={empty}
    />
  );
}

function TrendRead({ trend, interval }: { trend: Trend; interval: Series["interval"] }) {
  const read = useRead("/api/v1/stats/series", { query: { metric: trend.metric, interval } });
  return (
    <div class={trend === premiums ? "wide" : undefined}>
      <Shown read={read} height={40}>
        {(series) => <TrendPlot trend={trend} series={series} />}
      </Shown>
    </div>
  );
}

/** Premiums, and what they became: payouts and burned tokens, over one range. */
export function Trends() {
  const interval = choice("by", intervals);
  return (
    <Section
      title="Premiums, payouts and burns"
      controls={
        <Choices
          name="by"
          label="Length of the bars"
          chosen={interval}
          options={intervals.map((value) => ({ value, label: `By ${value}` }))}
        />
      }
    >
      <div class="plots">
        {[premiums, payouts, burns].map((trend) => (
          <TrendRead key={`${trend.metric} ${interval}`} trend={trend} interval={interval} />
        ))}
      </div>
    </Section>
  );
}
