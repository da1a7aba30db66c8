import { burnSources } from "../../ponder.schema.ts";
import type { ProtocolSums, readBurnDays, readBurnSources } from "./queries.ts";

const SECONDS_PER_DAY = 86_400n;
const RECENT_DAYS = 30n;

type Day = Awaited<ReturnType<typeof readBurnDays>>[number];
type Source = Awaited<ReturnType<typeof readBurnSources>>[number];

/** The UTC day that begins at `start` (Unix seconds), as `YYYY-MM-DD`. */
const dayName = (start: bigint) => new Date(Number(start) * 1000).toISOString().slice(0, 10);

const sumsOf = (row: Pick<Day, "tokenBurned" | "usdcSpent" | "burns"> | undefined) => ({
  token_burned: String(row?.tokenBurned ?? 0),
  usdc_spent: String(row?.usdcSpent ?? 0),
  burns: row?.burns ?? 0,
});

/**
 * The burn statistics. `days` are the days with burns, oldest first; the response has a row for every day from the first of
 * them to the day of `now` (Unix seconds).
 */
export function burnStatsBody(
  {
    sums,
    days,
    sources,
  }: { sums: ProtocolSums | undefined; days: readonly Day[]; sources: readonly Source[] },
  now: bigint,
) {
  const today = now - (now % SECONDS_PER_DAY);
  const byStart = new Map(days.map((day) => [day.dayStart, day]));
  const byDay: ({ day: string } & ReturnType<typeof sumsOf>)[] = [];
  for (let start = days[0]?.dayStart ?? today + 1n; start <= today; start += SECONDS_PER_DAY) {
    byDay.push({ day: dayName(start), ...sumsOf(byStart.get(start)) });
  }
  const recent = days.filter(({ dayStart }) => dayStart > today - RECENT_DAYS * SECONDS_PER_DAY);
  return {
    total_token_burned: String(sums?.tokenBurned ?? 0),
    total_usdc_volume: String(sums?.burnUsdcSpent ?? 0),
    last_30_days_burned: String(recent.reduce((sum, { tokenBurned }) => sum + tokenBurned, 0n)),
    burns_count: sums?.burns ?? 0,
    by_day: byDay,
    by_source: burnSources.map((source) => ({
      source,
      ...sumsOf(sources.find((row) => row.source === source)),
    })),
  };
}
