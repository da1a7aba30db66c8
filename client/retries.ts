/** When a failed call is sent again: after 1, 2, 4, 8, 16 and 32 seconds, and never earlier than `Retry-After` says. */
import { isRetryable } from "./api-error.ts";

export type RetryPolicy = {
  /** The wait before each retry, in ms; none for an empty list. */
  readonly delaysMs: readonly number[];
  /** A call that would have to wait longer fails at once, in ms: a day's limit is not worth waiting for. */
  readonly longestWaitMs: number;
};

/** The waits are those of the API's specification. `Retry-After` is 30 s for an outage, and a minute at most for a rate limit. */
export const specifiedRetries: RetryPolicy = {
  delaysMs: [1000, 2000, 4000, 8000, 16_000, 32_000],
  longestWaitMs: 60_000,
};

export const noRetries: RetryPolicy = { delaysMs: [], longestWaitMs: 0 };

/** Clients that failed together come back apart: each waits up to this share longer. */
const SPREAD = 0.25;

/**
 * The wait before a call is repeated, in ms; undefined when it is not.
 * @param repetitions how often it was repeated already
 * @param retryAfterSeconds what the API asks for
 * @param random from 0 to 1
 */
export function waitBefore(
  repetitions: number,
  { delaysMs, longestWaitMs }: RetryPolicy,
  retryAfterSeconds = 0,
  random = Math.random(),
): number | undefined {
  const delay = delaysMs[repetitions];
  const asked = 1000 * retryAfterSeconds;
  if (delay === undefined || asked > longestWaitMs) return undefined;
  return Math.max(asked, delay) * (1 + SPREAD * random);
}

/** The same after a failure: undefined also when a repetition does harm, or fails again. */
export const waitBeforeRetry = (
  error: unknown,
  repetitions: number,
  policy: RetryPolicy,
  random?: number,
): number | undefined =>
  isRetryable(error) ? waitBefore(repetitions, policy, error.retryAfterSeconds, random) : undefined;

/** Calls with an effect of its own each time: after a lost answer it is for the caller to look what became of it. */
const hasEffectEachTime =
  /^\/api\/v1\/(keys\/generate|webhooks|webhooks\/[^/]+\/(rotate-secret|test))(\?.*)?$/;

/** A purchase is made once for each Idempotency-Key; one without may be made again. */
const isPurchase = /^\/(api\/v1\/policies|sandbox\/try)(\?.*)?$/;

/** Whether a call may be repeated although nobody knows what became of the first. `url` is path and query. */
export const mayRepeat = (method: string, url: string, idempotencyKey?: string): boolean =>
  method !== "POST" ||
  (!hasEffectEachTime.test(url) && (idempotencyKey !== undefined || !isPurchase.test(url)));
