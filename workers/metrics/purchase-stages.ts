import { LRUCache } from "lru-cache";

/**
 * The stages of a purchase, in order; each begins at the end of the one before.
 * accept: from acceptance until the writer reads the purchase. queue: until its signing round begins. simulate: until the round
 * is simulated. sign: until the signed transaction is stored. broadcast: until the node answers. mine: until the writer reads its
 * block. settle: until the outcome is stored.
 */
export const stages = ["accept", "queue", "simulate", "sign", "broadcast", "mine", "settle"] as const;
export type Stage = (typeof stages)[number];

/** Purchases measured at once. Beyond it the least recently advanced one gives no further samples. */
const MAX_PURCHASES = 20_000;

/** The stages up to the node's answer, which a client waits for whatever the chain does. */
const BROADCAST = stages.indexOf("broadcast");

/** When a purchase was accepted, the number of stages that it has completed, and the end of the last one. */
type StageMark = { accepted: number; completed: number; since: number };

/**
 * Measures the time of purchases in each stage, in memory: a restart loses the samples of present purchases. The key of a
 * purchase is its id until it is signed, and then its transaction hash.
 *
 * @param observe records a sample, in seconds.
 * @param onBroadcast records the time from acceptance until the node's answer, in seconds.
 * @param now a monotonic clock in ms.
 */
export function createStages(
  observe: (stage: Stage, seconds: number) => void,
  onBroadcast: (seconds: number) => void = () => {},
  now: () => number = () => performance.now(),
) {
  const marks = new LRUCache<string, StageMark>({ max: MAX_PURCHASES });

  return {
    /** The writer read a purchase, `age` seconds after its acceptance. Reading it again has no effect. */
    begin(id: string, age: number): void {
      if (marks.has(id)) return;
      observe("accept", age);
      marks.set(id, { accepted: now() - age * 1000, completed: 1, since: now() });
    },
    /**
     * The purchases completed this stage. When a purchase skipped stages, because its block came before the node's answer, the
     * first of them gets all the time.
     */
    end(stage: Stage, keys: readonly string[]): void {
      const index = stages.indexOf(stage);
      for (const key of keys) {
        const mark = marks.get(key);
        if (!mark || mark.completed > index) continue;
        const ended = now();
        for (const skipped of stages.slice(mark.completed, index + 1)) {
          observe(skipped, (ended - mark.since) / 1000);
          mark.since = ended;
        }
        if (mark.completed <= BROADCAST && index >= BROADCAST) onBroadcast((ended - mark.accepted) / 1000);
        mark.completed = index + 1;
        if (mark.completed === stages.length) marks.delete(key);
      }
    },
    /** Adds a key of the purchase: its transaction hash, or the hash at a higher fee. */
    alias(key: string, other: string): void {
      const mark = marks.get(key);
      if (mark) marks.set(other, mark);
    },
    /** Removes a key: the purchase failed, or has another key. */
    forget(key: string): void {
      marks.delete(key);
    },
  };
}
