import { errorText, type Logger } from "../lib/log.ts";

export type Loop = {
  /** Does the next round at once, or as soon as the one at work is done. */
  nudge(): void;
  /** No round begins any more; resolves when the one at work is done. */
  stop(): Promise<void>;
};

/**
 * Does `round` again and again, `pauseMs()` apart, until it is stopped. A round that fails is logged and followed by
 * the next: databases and nodes come back.
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
  let wake: (() => void) | undefined;

  const pause = () =>
    new Promise<void>((resolve) => {
      const end = () => {
        clearTimeout(timer);
        wake = undefined;
        resolve();
      };
      const timer = setTimeout(end, nudged ? 0 : pauseMs());
      nudged = false;
      wake = end;
    });

  async function run(): Promise<void> {
    while (!stopped) {
      try {
        await round();
        if (failing) log.info(`${name}: works again`);
        failing = false;
      } catch (error) {
        // An outage is one line, not one line a round.
        if (!failing) log.warn({ error: errorText(error) }, `${name}: failed, goes on trying`);
        failing = true;
      }
      if (!stopped) await pause();
    }
  }

  const done = run();
  return {
    nudge() {
      if (wake) wake();
      else nudged = true;
    },
    async stop() {
      stopped = true;
      wake?.();
      await done;
    },
  };
}
