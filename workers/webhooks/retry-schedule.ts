/** The retry schedule of failed deliveries. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds from each failure to the next attempt, as the API specification says. */
export const RETRY_SECONDS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR, 24 * HOUR] as const;

/** The number of failures, of the first attempt and each retry, that makes a subscription undeliverable. */
export const MAX_FAILURES = RETRY_SECONDS.length + 1;

/** Random change of a delay, as a part of it, which spreads the retries of deliveries that failed together. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt, or undefined after the last one.
 *
 * @param failures failed attempts, with the present one.
 * @param retryAfter seconds that the receiver asked for: the minimum delay, but at most the delay of the next step.
 * @param random between 0 and 1.
 */
export function retryDelay(
  failures: number,
  retryAfter: number | null,
  random = Math.random(),
): number | undefined {
  const step = RETRY_SECONDS[failures - 1];
  if (step === undefined) return undefined;
  const spread = step * (1 + JITTER * (2 * random - 1));
  const nextStep = RETRY_SECONDS[failures] ?? step;
  return Math.max(spread, Math.min(retryAfter ?? 0, nextStep));
}

/** Parses a `Retry-After` header, a number of seconds or an HTTP date, to seconds from now. Null when it is neither. */
export function parseRetryAfter(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Every HTTP date begins with the name of a day; `Date.parse` alone would accept much else.
  const time = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, (time - now) / 1000);
}
