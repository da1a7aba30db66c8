/** A part of the load: a step that is repeated until the run ends, and that can be paused between two steps. */

export type Loop = {
  /** Resolves when no step runs. */
  readonly pause: () => Promise<void>;
  readonly resume: () => void;
};

/** Starts to repeat a step. `onFault` gets the first error of a step, which ends the loop. */
export function startLoop(step: () => Promise<void>, onFault: (fault: unknown) => void): Loop {
  let going = false;
  let faulty = false;
  let running = Promise.resolve();
  async function run(before: Promise<void>): Promise<void> {
    await before;
    while (going && !faulty) {
      await step().catch((fault: unknown) => {
        faulty = true;
        onFault(fault);
      });
    }
  }
  const resume = () => {
    if (going) return;
    going = true;
    running = run(running);
  };
  resume();
  return {
    resume,
    async pause() {
      going = false;
      await running;
    },
  };
}
