import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted } from "../../format/amount.ts";
import { dayStart } from "../../format/day.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Plot } from "../../plot/plot.tsx";

type Statistics = AnswerTo<"/api/v1/stats/market">;

/** “7 sales brought 12,340.00 USDC, and 120.00 USDC in fees.” */
function sentenceOf({ by_day }: Statistics): string {
  const sum = (of: (day: Statistics["by_day"][number]) => string) =>
    by_day.reduce((total, day) => total + BigInt(of(day)), 0n);
  const sales = by_day.reduce((total, day) => total + day.sales, 0);
  if (sales === 0) return "Nothing was sold yet.";
  const volume = amountWithUnit(
    sum(({ volume_usdc }) => volume_usdc),
    "usdc",
  );
  const fees = amountWithUnit(
    sum(({ fees_usdc }) => fees_usdc),
    "usdc",
  );
  return `${counted(sales, "sale", "sales")} brought ${volume}, and ${fees} in fees.`;
}

function VolumePlot({ statistics }: { statistics: Statistics }) {
  const points = useMemo(
    () =>
      statistics.by_day
        .map(({ day, volume_usdc }) => ({ at: dayStart(day), value: volume_usdc }))
        .sort((a, b) => a.at - b.at),
    [statistics],
  );
  return (
    <Plot
      title="Sold bonds"
      sentence={sentenceOf(statistics)}
      kind="bars"
      unit="usdc"
      period="day"
      points={points}
      source="/api/v1/stats/market"
      empty="No bond was sold yet."
    />
  );
}

/** Sales by day. */
export function Volume() {
  const read = useRead("/api/v1/stats/market");
  return (
    <Section title="Sales by day">
      <div class="plots">
        <div class="wide">
          <Shown read={read} height={40}>
            {(statistics) => <VolumePlot statistics={statistics} />}
          </Shown>
        </div>
      </div>
    </Section>
  );
}
