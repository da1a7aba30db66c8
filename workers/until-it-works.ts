import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError } from "../lib/config.ts";
import { errorText, type Logger } from "../lib/log.ts";

const RETRY_MS = 500;

/** Does `work` until it succeeds. Rejects with a configuration fault alone, for that is not a matter of waiting. */
export async function untilItWorks<T>(what: string, log: Logger, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (attempt % 20 === 0) log.warn({ error: errorText(error) }, `waiting for ${what}`);
      await sleep(RETRY_MS);
    }
  }
}
