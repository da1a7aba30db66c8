import { setTimeout as sleep } from "node:timers/promises";
import { errorText, type Logger } from "../../lib/log.ts";

/**
 * A round that takes longer is not slow but stuck, in ms: every connection, call and statement in it has a time limit far below.
 * The outbox may store an event for a minute at a time, a few times in a round.
 */
const STUCK_MS = 300_000;

export type Loop = {
  /** Begins the next round at once, or as soon as the running one ends. */
  nudge(): void;
  /** Begins no more rounds; resolves when the running one has ended. */
  stop(): Promise<void>;
};

/**
 * Repeats `round` with pauses of `pauseMs()` until it is stopped. A round that fails is logged, and the next one
 * follows: databases and nodes come back. A round that takes longer than `stuckMs` (5 minutes by default) ends the process,
 * for its supervisor to start it anew.
 */
export function startLoop(options: {
  name: string;
  log: Logger;
  pauseMs: () => number;
  round: () => Promise<void>;
  stuckMs?: number;
}): Loop {
  const { name, log, pauseMs, round, stuckMs = STUCK_MS } = options;
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

  function endProcess(): void {
    log.fatal({ stuckMs }, `${name}: one round does not end; the process ends, to be started anew`);
    process.exit(1);
  }

  async function run(): Promise<void> {
    while (!stopped) {
      const stuck = setTimeout(endProcess, stuckMs).unref();
      try {
        await round();
        if (failing) log.info(`${name}: works again`);
        failing = false;
      } catch (error) {
        // One line for an outage, not one for each round.
        if (!failing) log.warn({ err: errorText(error) }, `${name}: failed, retrying`);
        failing = true;
      } finally {
        clearTimeout(stuck);
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
