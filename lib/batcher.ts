/**
 * Collects what callers hand in while a round is under way, and does it in the next round as one: under load a
 * statement then serves many purchases, and an idle writer waits for nobody. Rounds follow each other.
 *
 * @param run does a round; a rejection rejects every caller of that round.
 * @param max the size of a round.
 */
export function createBatcher<Item, Result>(run: (items: Item[]) => Promise<Result>, max: number) {
  type Waiting = { item: Item; resolve: (result: Result) => void; reject: (error: unknown) => void };
  let waiting: Waiting[] = [];
  let running = false;

  async function rounds(): Promise<void> {
    running = true;
    while (waiting.length > 0) {
      const round = waiting.slice(0, max);
      waiting = waiting.slice(max);
      try {
        const result = await run(round.map(({ item }) => item));
        for (const { resolve } of round) resolve(result);
      } catch (error) {
        for (const { reject } of round) reject(error);
      }
    }
    running = false;
  }

  /** Resolves with the result of the whole round that the item was part of. */
  return (item: Item): Promise<Result> =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject });
      // Callers of the same tick share the first round too.
      if (!running) {
        running = true;
        setImmediate(() => void rounds());
      }
    });
}
