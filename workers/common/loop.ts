import { setTimeout as sleep } from "node:timers/promises";
import { errorText, type Logger } from "../../lib/log.ts";

export type Loop = {
  /** Begins the next round at once, or as soon as the running one ends. */
  nudge(): void;
  /** Begins no more rounds; resolves when the running one has ended. */
  stop(): Promise<void>;
};

/**
 * Repeats `round` with pauses of `pauseMs()` until it is stopped. A round that fails is logged, and the next one
 * follows: databases and nodes come back.
 */
export function startLoop(options: {
  name: string;
  log: Logger;
  pauseMs: () => number;
  round: () => Promise<void>;
}): Loop {
  const { name, log, pauseMs, round } = options;
  let stopped = false;
  let nudged = false;
  let failing = false;
  let pausing: AbortController | undefined;

  async function pause(): Promise<void> {
    const ms = nudged ? 0 : pauseMs();
    nudged = false;
    pausing = new AbortController();
    await sleep(ms, undefined, { signal: pausing.signal }).catch(() => {});
    pausing = undefined;
  }

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await round();
        if (failing) log.info(`${name}: works again`);
        failing = false;
      } catch (error) {
        // One line for an outage, not one for each round.
        if (!failing) log.warn({ err: errorText(error) }, `${name}: failed, retrying`);
        failing = true;
      }
      if (!stopped) await pause();
    }
  }

  const done = run();
  return {
    nudge() {
      if (pausing) pausing.abort();
      else nudged = true;
    },
    async stop() {
      stopped = true;
      pausing?.abort();
      await done;
    },
  };
}
