import { within } from "./timeout.ts";

/** A round that takes longer has hung, in ms: its statements and calls have shorter time limits of their own. */
const STUCK_MS = 60_000;

/**
 * Collects the items of calls during a round, and processes them together in the next round: under load one statement
 * then serves many purchases, and without load no call waits. Rounds follow each other.
 *
 * @param run processes a round; its rejection rejects every call of that round.
 * @param max the most items of a round.
 * @param stuckMs a round that takes longer, in ms, rejects its calls, although it may still succeed; the next round begins.
 */
export function createBatcher<Item, Result>(
  run: (items: Item[]) => Promise<Result>,
  max: number,
  stuckMs = STUCK_MS,
) {
  const late = () => new Error(`a round took longer than ${stuckMs} ms; its outcome is unknown`);
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let running = false;

  async function rounds(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const round = waiting.slice(0, max);
      waiting = waiting.slice(max);
      try {
        const items = round.map(({ item }) => item);
        const result = await within(stuckMs, run(items), late);
        for (const { resolve } of round) resolve(result);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    running = false;
  }

  /** Resolves with the result of the item's whole round. */
  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Calls of the same tick share the first round too.
      if (!running) {
        running = true;
        setImmediate(() => void rounds());
      }
    });
}
