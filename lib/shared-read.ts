/**
 * One read for all who ask at the same time, kept for `ttlMs` after it was begun. A failed read is told to those who
 * wait for it and is not kept, so that the next one asks anew.
 */
export function shareRead<T>(ttlMs: number, read: () => Promise<T>): () => Promise<T> {
  let current: { begun: number; result: Promise<T>; done: boolean } | undefined;
  return () => {
    const now = performance.now();
    if (current && (!current.done || now - current.begun < ttlMs)) return current.result;
    const mine = { begun: now, result: read(), done: false };
    current = mine;
    mine.result.then(
      () => {
        mine.done = true;
      },
      () => {
        if (current === mine) current = undefined;
      },
    );
    return mine.result;
  };
}

/** Keys that are remembered at once: clients choose them, so their number must have a bound. */
const MAX_KEYS = 500;

/** {@link shareRead} for each key on its own. */
export function shareReadBy<K, T>(ttlMs: number, read: (key: K) => Promise<T>): (key: K) => Promise<T> {
  const reads = new Map<K, () => Promise<T>>();
  return (key) => {
    let shared = reads.get(key);
    if (!shared) {
      if (reads.size >= MAX_KEYS) reads.clear();
      shared = shareRead(ttlMs, () => read(key));
      reads.set(key, shared);
    }
    return shared();
  };
}
