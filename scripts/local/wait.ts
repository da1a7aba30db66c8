import { setTimeout as sleep } from "node:timers/promises";

/** What to wait for: `probe` is asked every `intervalMs` until it answers something other than `undefined`. */
export type Wait<T> = {
  /** Said when the time is up: "API to answer". */
  readonly what: string;
  readonly probe: () => Promise<T | undefined> | T | undefined;
  readonly timeoutMs: number;
  readonly intervalMs?: number;
  /** Why it is pointless to go on waiting, once it is: the process that should answer has ended. */
  readonly hopeless?: () => string | undefined;
};

/**
 * Asks until there is an answer. A probe that throws counts as "not yet"; its last error is the cause of the one
 * thrown when the time is up or the wait is hopeless.
 */
export async function waitFor<T>({ what, probe, timeoutMs, intervalMs = 50, hopeless }: Wait<T>): Promise<T> {
  const deadline = Date.now() + timeoutMs;
  let lastError: unknown;
  for (;;) {
    try {
      const answer = await probe();
      if (answer !== undefined) return answer;
      lastError = undefined;
    } catch (error) {
      lastError = error;
    }
    const reason = hopeless?.();
    if (reason !== undefined) throw new Error(reason, { cause: lastError });
    if (Date.now() >= deadline) {
      throw new Error(`waited ${timeoutMs / 1000} s in vain for ${what}`, { cause: lastError });
    }
    await sleep(intervalMs);
  }
}
