/** Times as people read them: local, with UTC at hand. Unix seconds. */

const day = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", year: "numeric" });
const dayUtc = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  timeZone: "UTC",
});
const monthUtc = new Intl.DateTimeFormat("en-GB", { month: "short", year: "numeric", timeZone: "UTC" });
const moment = new Intl.DateTimeFormat("en-GB", {
  day: "numeric",
  month: "short",
  year: "numeric",
  hour: "2-digit",
  minute: "2-digit",
});
const clock = new Intl.DateTimeFormat("en-GB", { hour: "2-digit", minute: "2-digit", second: "2-digit" });

/** The last moment of JavaScript's calendar: a later one, as a mock feed may report, counts as this. */
const LAST_MS = 8.64e15;
export const dateOf = (seconds: number | string): Date => new Date(Math.min(Number(seconds) * 1000, LAST_MS));

export const localDay = (seconds: number | string): string => day.format(dateOf(seconds));
export const localMoment = (seconds: number | string): string => moment.format(dateOf(seconds));
export const localClock = (seconds: number | string): string => clock.format(dateOf(seconds));
/** A UTC day or month of a series. */
export const utcDay = (seconds: number | string): string => dayUtc.format(dateOf(seconds));
export const utcMonth = (seconds: number | string): string => monthUtc.format(dateOf(seconds));
/** `2026-11-25 02:30:18 UTC` */
export const utcMoment = (seconds: number | string): string =>
  `${dateOf(seconds).toISOString().slice(0, 19).replace("T", " ")} UTC`;

const steps = [
  ["d", 86_400],
  ["h", 3600],
  ["min", 60],
  ["s", 1],
] as const;

/** A duration by its two largest units: `3 h 12 min`. */
export function duration(seconds: number): string {
  const [first, second] = steps.filter(([, size]) => seconds >= size);
  if (!first) return "0 s";
  const [name, size] = first;
  const large = `${Math.floor(seconds / size)} ${name}`;
  const rest = second ? Math.floor((seconds % size) / second[1]) : 0;
  return second && rest > 0 ? `${large} ${rest} ${second[0]}` : large;
}
