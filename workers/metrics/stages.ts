/**
 * The seven stages of a purchase, in their order; each ends where the next one begins.
 * accept: recorded → read by the writer. simulate: → simulated. queue: → its round of signing begins. sign: → its bytes
 * are stored. broadcast: → the node has answered. mine: → its block was seen. settle: → the outcome is written down.
 */
export const stages = ["accept", "simulate", "queue", "sign", "broadcast", "mine", "settle"] as const;
export type Stage = (typeof stages)[number];

/** Purchases that are followed at once; beyond it the oldest is forgotten, which costs its samples and nothing else. */
const MAX_FOLLOWED = 20_000;

/** The number of stages that a purchase has behind it, and when the last of them ended. */
type Mark = { passed: number; since: number };

/**
 * Measures how long purchases spend in each stage, in this process's memory: what a restart forgets gives no samples.
 * A purchase is followed by its id until it is signed, and then by its hash.
 *
 * @param observe takes one sample, in seconds.
 * @param now a clock in ms that never goes back.
 */
export function createStages(
  observe: (stage: Stage, seconds: number) => void,
  now: () => number = () => performance.now(),
) {
  const marks = new Map<string, Mark>();

  function follow(key: string, mark: Mark): void {
    marks.set(key, mark);
    if (marks.size <= MAX_FOLLOWED) return;
    for (const oldest of marks.keys()) {
      marks.delete(oldest);
      break;
    }
  }

  return {
    /** A purchase was read, so many seconds after it was recorded; one that is read again is followed already. */
    begin(id: string, age: number): void {
      if (marks.has(id)) return;
      observe("accept", age);
      follow(id, { passed: 1, since: now() });
    },
    /**
     * The purchases have this stage behind them. One that skipped some, because a block was seen before the node's
     * answer, spent its time in the first of them.
     */
    end(stage: Stage, keys: readonly string[]): void {
      const index = stages.indexOf(stage);
      for (const key of keys) {
        const mark = marks.get(key);
        if (!mark || mark.passed > index) continue;
        const ended = now();
        for (const skipped of stages.slice(mark.passed, index + 1)) {
          observe(skipped, (ended - mark.since) / 1000);
          mark.since = ended;
        }
        mark.passed = index + 1;
        if (mark.passed === stages.length) marks.delete(key);
      }
    },
    /** From now on the purchase is known by another name too: its hash, or that of a form at a higher fee. */
    alias(key: string, other: string): void {
      const mark = marks.get(key);
      if (mark) follow(other, mark);
    },
    /** The purchase goes no further, or goes by another name. */
    forget(key: string): void {
      marks.delete(key);
    },
  };
}

export type Stages = ReturnType<typeof createStages>;
