import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { api } from "../../data/api.ts";
import { choice } from "../../data/place.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted } from "../../format/amount.ts";
import { Choices } from "../../parts/choices.tsx";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Plot } from "../../plot/plot.tsx";
import { periodName } from "../../plot/points.ts";
import { DaysWithSales } from "./days-with-sales.tsx";

const metric = "bond_sales";
const intervals = ["month", "week", "day"] as const;
const spans = { day: "30 days", week: "30 weeks", month: "30 months" } as const;

type Series = AnswerTo<"/api/v1/stats/series">;

/** “3,945 USDC in 30 months by 3 sales; the most, 1,880 USDC: May 2026.” */
function sentenceOf({ buckets, interval }: Series): string {
  const sales = buckets.reduce((sum, { events }) => sum + events, 0);
  const [first, ...others] = buckets;
  if (!first || sales === 0) return `Nothing was sold in the last ${spans[interval]}.`;
  const most = others.reduce((best, next) => (BigInt(next.value) > BigInt(best.value) ? next : best), first);
  const total = buckets.reduce((sum, { value }) => sum + BigInt(value), 0n);
  const text = (value: bigint | string) => amountWithUnit(value, "usdc", { digits: 2, least: 0 });
  return `${text(total)} in ${spans[interval]} by ${counted(sales, "sale", "sales")}; the most, ${text(most.value)}: ${periodName(interval, Number(most.start))}.`;
}

function VolumePlot({ series }: { series: Series }) {
  const points = useMemo(
    () => series.buckets.map(({ start, value }) => ({ at: Number(start), value })),
    [series],
  );
  return (
    <Plot
      title="Sold bonds"
      sentence={sentenceOf(series)}
      kind="bars"
      unit="usdc"
      period={series.interval}
      points={points}
      source={api.address("/api/v1/stats/series", { query: { metric, interval: series.interval } })}
      empty={`No bond was sold in the last ${spans[series.interval]}.`}
    />
  );
}

/** What bonds were sold for, before fees: over time, and each day with its fees. */
export function SalesByTime() {
  const interval = choice("by", intervals);
  const read = useRead("/api/v1/stats/series", { query: { metric, interval } });
  return (
    <Section
      title="Sales"
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
        <div class="wide">
          <Shown read={read} height={40}>
            {(series) => <VolumePlot key={interval} series={series} />}
          </Shown>
        </div>
      </div>
      <DaysWithSales />
    </Section>
  );
}
