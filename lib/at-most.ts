/** Limits how much of some work is done at once; what exceeds `limit` waits in the order in which it was asked for. */
export function createAtMost(limit: number) {
  let atWork = 0;
  const waiting: (() => void)[] = [];

  return async <T>(work: () => Promise<T>): Promise<T> => {
    // Whoever waits is handed the place of the one that ends, so that nobody slips in between.
    if (atWork >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else atWork += 1;
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next) next();
      else atWork -= 1;
    }
  };
}

/** The same for each key by itself; nothing is kept of a key that nobody works or waits for. */
export function createAtMostByKey(limit: number) {
  const byKey = new Map<string, { readonly atMost: ReturnType<typeof createAtMost>; callers: number }>();

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const entry = byKey.get(key) ?? { atMost: createAtMost(limit), callers: 0 };
    byKey.set(key, entry);
    entry.callers += 1;
    try {
      return await entry.atMost(work);
    } finally {
      entry.callers -= 1;
      if (entry.callers === 0) byKey.delete(key);
    }
  };
}
