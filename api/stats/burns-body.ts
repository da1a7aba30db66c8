import { burnSources } from "../../ponder.schema.ts";
import type { Period } from "../http/paging.ts";
import { dayName, dayOf, everyDay, SECONDS_PER_DAY } from "./days.ts";
import type { ProtocolSums, readBurnDays, readBurnSources } from "./queries.ts";

const RECENT_DAYS = 30n;

type Day = Awaited<ReturnType<typeof readBurnDays>>[number];
type Source = Awaited<ReturnType<typeof readBurnSources>>[number];

const sumsOf = (row: Pick<Day, "tokenBurned" | "usdcSpent" | "burns"> | undefined) => ({
  token_burned: String(row?.tokenBurned ?? 0),
  usdc_spent: String(row?.usdcSpent ?? 0),
  burns: row?.burns ?? 0,
});

/**
 * The burn statistics. `days` are the days with burns, oldest first; `by_day` has a row for every day of the period from the
 * first of them to the day of `now` (Unix seconds), and the sums are of all time.
 */
export function burnStatsBody(
  {
    sums,
    days,
    sources,
  }: { sums: ProtocolSums | undefined; days: readonly Day[]; sources: readonly Source[] },
  period: Period,
  now: bigint,
) {
  const today = dayOf(now);
  const byStart = new Map(days.map((day) => [day.dayStart, day]));
  const starts = everyDay([...byStart.keys()], period, now);
  const recent = days.filter(({ dayStart }) => dayStart > today - RECENT_DAYS * SECONDS_PER_DAY);
  return {
    total_token_burned: String(sums?.tokenBurned ?? 0),
    total_usdc_volume: String(sums?.burnUsdcSpent ?? 0),
    last_30_days_burned: String(recent.reduce((sum, { tokenBurned }) => sum + tokenBurned, 0n)),
    burns_count: sums?.burns ?? 0,
    by_day: starts.map((start) => ({ day: dayName(start), ...sumsOf(byStart.get(start)) })),
    by_source: burnSources.map((source) => ({
      source,
      ...sumsOf(sources.find((row) => row.source === source)),
    })),
  };
}
