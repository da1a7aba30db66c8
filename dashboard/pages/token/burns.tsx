import { useMemo } from "preact/hooks";
import type { AnswerTo } from "../../../client/index.ts";
import { useRead } from "../../data/use-read.ts";
import { amountWithUnit, counted } from "../../format/amount.ts";
import { dayStart } from "../../format/day.ts";
import { bySource, sourceLabel } from "../../format/sources.ts";
import { utcDay } from "../../format/time.ts";
import { Section } from "../../parts/head.tsx";
import { Shown } from "../../parts/shown.tsx";
import { Table } from "../../parts/table.tsx";
import { Plot } from "../../plot/plot.tsx";

type BurnStats = AnswerTo<"/api/v1/stats/burns">;

/** “On 15 days tokens were burned; the most on 24 Nov 2026: 5,380.93 PCT.” */
function sentenceOf({ by_day }: BurnStats): string {
  const days = by_day.filter(({ token_burned }) => token_burned !== "0");
  const most = days.reduce<BurnStats["by_day"][number] | undefined>(
    (best, day) => (best && BigInt(best.token_burned) >= BigInt(day.token_burned) ? best : day),
    undefined,
  );
  if (!most) return "No token was burned yet.";
  const amount = amountWithUnit(most.token_burned, "token", { digits: 2 });
  return `${counted(days.length, "day", "days")} with burns; the most on ${utcDay(dayStart(most.day))}: ${amount}.`;
}

/** “5,380.93 PCT by the TWAP burner, 12.00 PCT by holders.” */
function bySourceText({ by_source }: BurnStats): string {
  const parts = by_source
    .filter(({ burns }) => burns > 0)
    .map(
      ({ source, token_burned }) =>
        `${amountWithUnit(token_burned, "token", { digits: 2 })} ${bySource(source)}`,
    );
  return parts.length === 0 ? "" : `${parts.join(", ")}.`;
}

function BurnPlot({ stats }: { stats: BurnStats }) {
  const points = useMemo(
    () =>
      stats.by_day
        .map(({ day, token_burned }) => ({ at: dayStart(day), value: token_burned }))
        .sort((a, b) => a.at - b.at),
    [stats],
  );
  return (
    <Plot
      title="Burned tokens"
      sentence={sentenceOf(stats)}
      kind="bars"
      unit="token"
      tone="burned"
      period="day"
      points={points}
      source="/api/v1/stats/burns"
      empty="No token was burned yet. The first burn appears here by itself."
    />
  );
}

/** Burns by day, and by who burned them, in words. */
export function Burns() {
  const read = useRead("/api/v1/stats/burns");
  return (
    <Section title="Burns">
      <Shown read={read} height={40}>
        {(stats) => (
          <>
            <div class="plots">
              <div class="wide">
                <BurnPlot stats={stats} />
              </div>
            </div>
            <p class="note">{bySourceText(stats)}</p>
            <Table
              caption="Burns by source"
              rows={stats.by_source}
              keyOf={({ source }) => source}
              source="/api/v1/stats/burns"
              empty="No token was burned yet."
              columns={[
                { head: "Source", cell: ({ source }) => sourceLabel(source) },
                { head: "Burns", unit: "count", amount: ({ burns }) => burns },
                { head: "Spent", unit: "usdc", amount: ({ usdc_spent }) => usdc_spent },
                { head: "Burned", unit: "token", amount: ({ token_burned }) => token_burned },
              ]}
            />
          </>
        )}
      </Shown>
    </Section>
  );
}
