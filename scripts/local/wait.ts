import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../../lib/config-error.ts";

/** `probe` is called every `intervalMs` until it returns something other than `undefined`. */
export type Wait<T> = {
  /** For the timeout's message: "API to answer". */
  readonly what: string;
  readonly probe: () => Promise<T | undefined> | T | undefined;
  /** Five minutes when left out: long enough for a slow and busy machine, and a wait that succeeds does not take it. */
  readonly timeoutMs?: number;
  readonly intervalMs?: number;
  /** With it each interval is twice the last one, up to this. */
  readonly maxIntervalMs?: number;
  /** Returns a reason to stop waiting, such as that the process has ended. */
  readonly giveUpReason?: () => string | undefined;
};

/**
 * Polls until there is a result. An error from `probe` counts as "not yet", unless waiting does not correct it (`ConfigError`).
 * @throws on the timeout or when there is a reason to give up; the cause is the last error of `probe`.
 */
export async function waitFor<T>({
  what,
  probe,
  timeoutMs = 300_000,
  intervalMs = 50,
  maxIntervalMs = intervalMs,
  giveUpReason,
}: Wait<T>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (let pauseMs = intervalMs; ; pauseMs = Math.min(pauseMs * 2, maxIntervalMs)) {
    try {
      const result = await probe();
      if (result !== undefined) return result;
      lastError = undefined;
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      lastError = error;
    }
    const reason = giveUpReason?.();
    if (reason !== undefined) throw new Error(reason, { cause: lastError });
    if (Date.now() >= deadline) {
      throw new Error(`timed out after ${timeoutMs / 1000} s waiting for ${what}`, { cause: lastError });
    }
    await sleep(pauseMs);
  }
}
