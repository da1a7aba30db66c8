/**
 * Places for work that is under way: so many at once, and so many for each key, such as a receiver's host. Whoever waits
 * is let in key by key, so that the many of one key never stand before the few of another.
 */

/** Somebody's place. */
export type Place = {
  /** Gives it back; a second time it does nothing. */
  leave(): void;
  /** Gives it to others although the work goes on, unless too many have done so already. */
  stepAside(): void;
};

export type Places = {
  enter(key: string): Promise<Place>;
  /** Nobody is in and nobody waits. */
  readonly idle: boolean;
};

export type PlacesOptions = {
  readonly total: number;
  readonly ofKey: number;
  /** For each place so many may have stepped aside, in total and by key. */
  readonly aside: number;
};

/** The work and the waiting of one key. */
type Entry = { inside: number; aside: number; readonly waiting: (() => void)[] };

export function createPlaces({ total, ofKey, aside }: PlacesOptions): Places {
  const entries = new Map<string, Entry>();
  /** Keys with somebody who waits and room of their own, in the order in which their turn comes. */
  const next = new Set<string>();
  let inside = 0;
  let asideInTotal = 0;

  function admit(): void {
    // A key that is put back goes behind the others, and is met again there.
    for (const key of next) {
      if (inside >= total) return;
      next.delete(key);
      const entry = entries.get(key);
      const begin = entry?.waiting.shift();
      if (!entry || !begin) continue;
      inside += 1;
      entry.inside += 1;
      queue(key, entry);
      begin();
    }
  }

  function queue(key: string, entry: Entry): void {
    if (entry.waiting.length > 0 && entry.inside < ofKey) next.add(key);
    else if (entry.inside + entry.aside + entry.waiting.length === 0) entries.delete(key);
  }

  function makeRoom(key: string, entry: Entry): void {
    queue(key, entry);
    admit();
  }

  function placeOf(key: string, entry: Entry): Place {
    let state: "inside" | "aside" | "left" = "inside";
    return {
      leave() {
        if (state === "left") return;
        if (state === "inside") {
          inside -= 1;
          entry.inside -= 1;
        } else {
          asideInTotal -= 1;
          entry.aside -= 1;
        }
        state = "left";
        makeRoom(key, entry);
      },
      stepAside() {
        if (state !== "inside" || asideInTotal >= aside * total || entry.aside >= aside * ofKey) return;
        state = "aside";
        inside -= 1;
        entry.inside -= 1;
        asideInTotal += 1;
        entry.aside += 1;
        makeRoom(key, entry);
      },
    };
  }

  return {
    enter(key) {
      const entry = entries.get(key) ?? { inside: 0, aside: 0, waiting: [] };
      entries.set(key, entry);
      return new Promise((resolve) => {
        entry.waiting.push(() => resolve(placeOf(key, entry)));
        makeRoom(key, entry);
      });
    },
    get idle() {
      return entries.size === 0;
    },
  };
}
