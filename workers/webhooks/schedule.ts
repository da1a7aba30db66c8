/** When a delivery that failed is tried again. */

const MINUTE = 60;
const HOUR = 60 * MINUTE;

/** Seconds from each failure to the next attempt: the API specification's schedule. */
export const RETRY_SECONDS = [MINUTE, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 12 * HOUR, 24 * HOUR] as const;

/** With so many failures, the first attempt's and every retry's, the subscription is undeliverable. */
export const MAX_FAILURES = RETRY_SECONDS.length + 1;

/** Retries of many deliveries that failed together spread over so much of their delay to either side. */
const JITTER = 0.1;

/**
 * Seconds until the next attempt, or undefined when there is none.
 *
 * @param failures attempts that failed, the last one included.
 * @param retryAfter seconds that the receiver asked for: it is left alone at least so long, but no longer than until the
 *   retry after the next one would be due.
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

/** Seconds until a time told by a `Retry-After` header: a number of seconds or an HTTP date. Null when it is neither. */
export function parseRetryAfter(header: string | undefined, now = Date.now()): number | null {
  if (header === undefined) return null;
  const text = header.trim();
  if (/^\d{1,9}$/.test(text)) return Number(text);
  // Every form of an HTTP date begins with the name of a day; the parser would take much else for a date.
  const time = /^[A-Z][a-z]{2,8},? /.test(text) ? Date.parse(text) : Number.NaN;
  return Number.isNaN(time) ? null : Math.max(0, (time - now) / 1000);
}
