/** Calls that may be repeated. */
import { ApiError, ConnectionError, hasCode } from "./api-error.ts";
import { pause } from "./pause.ts";

/** Tries of one call; the first waits between them are 1, 2 and 4 s where the API names none. */
const TRIES = 8;
const LONGEST_WAIT_SECONDS = 8;

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

const waitAskedFor = (error: unknown): number | undefined =>
  error instanceof ApiError ? error.retryAfterSeconds : undefined;

/** Repeats a call while its outcome is in doubt; it must do no harm twice. @throws the last error, or the signal's reason */
export async function untilAnswered<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      if (!isInDoubt(error) || tries === TRIES) throw error;
      const seconds = waitAskedFor(error) ?? Math.min(2 ** (tries - 1), LONGEST_WAIT_SECONDS);
      await pause(1000 * seconds, signal);
    }
  }
}
