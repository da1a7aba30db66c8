import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "./config-error.ts";
import { errorText, type Logger } from "./log.ts";

const RETRY_MS = 500;
/** Failed attempts between two lines in the log. */
const LOG_EVERY = 20;

/**
 * Repeats `work` every 500 ms until it succeeds: servers that a process depends on may start after it.
 *
 * @param name the server, for the log: "waiting for <name>".
 * @param signal ends the retries, also the pause between two of them; the promise then rejects.
 * @throws ConfigError without a retry, because waiting does not correct a configuration.
 */
export async function retryUntilReady<T>(
  name: string,
  { log, signal }: { log: Logger; signal?: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    signal?.throwIfAborted();
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (attempt % LOG_EVERY === 0) log.warn({ err: errorText(error) }, `waiting for ${name}`);
      await sleep(RETRY_MS, undefined, { signal });
    }
  }
}
