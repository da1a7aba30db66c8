import pLimit from "p-limit";

/**
 * A concurrency limit for each key: at most `concurrency` calls of one key run at the same time, the others wait in order.
 * A key without calls takes no memory.
 */
export function createLimitByKey(concurrency: number) {
  const byKey = new Map<string, { readonly limit: ReturnType<typeof pLimit>; calls: number }>();

  return async <T>(key: string, work: () => Promise<T>): Promise<T> => {
    const entry = byKey.get(key) ?? { limit: pLimit(concurrency), calls: 0 };
    byKey.set(key, entry);
    entry.calls += 1;
    try {
      return await entry.limit(work);
    } finally {
      entry.calls -= 1;
      if (entry.calls === 0) byKey.delete(key);
    }
  };
}
