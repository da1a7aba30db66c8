/**
 * Calls at the same time share one read. Its result is cached for `ttlMs` after the read began; an error, and a result that
 * `isKept` refuses, is not cached, so that the next call reads again.
 */
export function shareRead<T>(
  ttlMs: number,
  read: () => Promise<T>,
  isKept: (result: T) => boolean = () => true,
): () => Promise<T> {
  let current: { begun: number; result: Promise<T>; done: boolean } | undefined;
  return () => {
    const now = performance.now();
    if (current && (!current.done || now - current.begun < ttlMs)) return current.result;
    const mine = { begun: now, result: read(), done: false };
    current = mine;
    const forget = () => {
      if (current === mine) current = undefined;
    };
    mine.result.then((result) => {
      mine.done = true;
      if (!isKept(result)) forget();
    }, forget);
    return mine.result;
  };
}

/**
 * {@link shareRead}, which repeats the last result, flagged as `stale`, when a read fails. Rejects only before the first
 * result.
 */
export function shareReadOrLast<T>(
  ttlMs: number,
  read: () => Promise<T>,
): () => Promise<{ value: T; stale: boolean }> {
  let last: { value: T } | undefined;
  const shared = shareRead(ttlMs, async () => {
    last = { value: await read() };
    return last;
  });
  return async () => {
    try {
      return { ...(await shared()), stale: false };
    } catch (error) {
      if (!last) throw error;
      return { ...last, stale: true };
    }
  };
}

/** Most keys that are cached: clients choose the keys, so their number must have a bound. */
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
