/** Places for work that is under way: so many at once, the others wait in their order. */

/** Gives the place back; a second time it does nothing. */
export type Leave = () => void;

export type Places = {
  enter(): Promise<Leave>;
  /** Nobody is in and nobody waits. */
  readonly idle: boolean;
};

export function createPlaces(limit: number): Places {
  let taken = 0;
  const waiting: (() => void)[] = [];

  /** Whoever waits is handed the place of the one that leaves, so that nobody slips in between. */
  function leave(): void {
    const next = waiting.shift();
    if (next) next();
    else taken -= 1;
  }

  return {
    async enter() {
      if (taken >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
      else taken += 1;
      let left = false;
      return () => {
        if (!left) leave();
        left = true;
      };
    },
    get idle() {
      return taken === 0;
    },
  };
}

/** The same for each key, such as a receiver's host. What is idle is forgotten. */
export function createPlacesByKey(limit: number): { enter(key: string): Promise<Leave> } {
  const byKey = new Map<string, Places>();
  return {
    async enter(key) {
      const places = byKey.get(key) ?? createPlaces(limit);
      byKey.set(key, places);
      const leave = await places.enter();
      return () => {
        leave();
        if (places.idle) byKey.delete(key);
      };
    },
  };
}
