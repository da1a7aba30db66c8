/**
 * Limits running work in total and per key, such as a receiver's host. Waiting work starts key by key in turn, so that a key
 * with much waiting work does not delay the others.
 */

/** A slot of the limit, held by one piece of work. */
export type Slot = {
  /** Ends the work. A second call has no effect. */
  release(): void;
  /** Lets waiting work start although this work continues, unless too much work already continues without a slot. */
  releaseEarly(): void;
};

export type FairLimit = {
  /** Waits for a slot. */
  acquire(key: string): Promise<Slot>;
  /** Whether no work runs or waits. */
  readonly idle: boolean;
};

export type FairLimitOptions = {
  readonly total: number;
  readonly perKey: number;
  /** How much work per slot may continue after an early release; it bounds the total and each key. */
  readonly overtimePerSlot: number;
};

/** The work of one key. `overtime` counts work that continues after an early release. */
type KeyState = { running: number; overtime: number; readonly waiting: (() => void)[] };

export function createFairLimit({ total, perKey, overtimePerSlot }: FairLimitOptions): FairLimit {
  const keys = new Map<string, KeyState>();
  /** Keys with waiting work and a free slot of their own, in the order of their turns. */
  const ready = new Set<string>();
  let running = 0;
  let overtime = 0;

  function startWaiting(): void {
    // A key that is added again moves to the end, and this loop reaches it there.
    for (const key of ready) {
      if (running >= total) return;
      ready.delete(key);
      const state = keys.get(key);
      const start = state?.waiting.shift();
      if (!state || !start) continue;
      running += 1;
      state.running += 1;
      updateReady(key, state);
      start();
    }
  }

  function updateReady(key: string, state: KeyState): void {
    if (state.waiting.length > 0 && state.running < perKey) ready.add(key);
    else if (state.running + state.overtime + state.waiting.length === 0) keys.delete(key);
  }

  function changed(key: string, state: KeyState): void {
    updateReady(key, state);
    startWaiting();
  }

  function createSlot(key: string, state: KeyState): Slot {
    let phase: "running" | "overtime" | "released" = "running";
    return {
      release() {
        if (phase === "released") return;
        if (phase === "running") {
          running -= 1;
          state.running -= 1;
        } else {
          overtime -= 1;
          state.overtime -= 1;
        }
        phase = "released";
        changed(key, state);
      },
      releaseEarly() {
        const full = overtime >= overtimePerSlot * total || state.overtime >= overtimePerSlot * perKey;
        if (phase !== "running" || full) return;
        phase = "overtime";
        running -= 1;
        state.running -= 1;
        overtime += 1;
        state.overtime += 1;
        changed(key, state);
      },
    };
  }

  return {
    acquire(key) {
      const state = keys.get(key) ?? { running: 0, overtime: 0, waiting: [] };
      keys.set(key, state);
      return new Promise((resolve) => {
        state.waiting.push(() => resolve(createSlot(key, state)));
        changed(key, state);
      });
    },
    get idle() {
      return keys.size === 0;
    },
  };
}
