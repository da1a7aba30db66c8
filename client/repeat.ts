/** Calls that may be repeated. */
import { ConnectionError, hasCode } from "./api-error.ts";
import { pause } from "./pause.ts";
import { type RetryPolicy, specifiedRetries, waitBeforeRetry } from "./retries.ts";

/** Whether the API may have done what it was asked for, may still do it, or can do it soon. */
export const isInDoubt = (error: unknown): boolean =>
  error instanceof ConnectionError ||
  hasCode(
    error,
    "purchase_pending",
    "database_unavailable",
    "internal_error",
    "rate_limit",
    "chain_not_found",
    "scan_busy",
    "verification_busy",
  );

/**
 * Repeats a call that does no harm twice.
 * @param wait the time in ms after a failure; undefined to give up. `repetitions` counts those before.
 * @throws the last error, or the signal's reason
 */
export async function repeat<T>(
  call: () => Promise<T>,
  wait: (error: unknown, repetitions: number) => number | undefined,
  signal?: AbortSignal,
): Promise<T> {
  for (let repetitions = 0; ; repetitions += 1) {
    try {
      return await call();
    } catch (error) {
      const ms = wait(error, repetitions);
      if (ms === undefined) throw error;
      await pause(ms, signal);
    }
  }
}

/** Repeats a call while its outcome is in doubt; it must do no harm twice. @throws the last error, or the signal's reason */
export const untilAnswered = <T>(
  call: () => Promise<T>,
  signal?: AbortSignal,
  retries: RetryPolicy = specifiedRetries,
): Promise<T> =>
  repeat(
    call,
    (error, repetitions) => (isInDoubt(error) ? waitBeforeRetry(error, repetitions, retries) : undefined),
    signal,
  );
