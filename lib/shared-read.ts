export type SharedReadOptions<T> = {
  /** A result that it refuses is not kept: the next call reads again. */
  readonly isKept?: (result: T) => boolean;
  /** From this age on, in ms, a call begins the next read and gets the result that is there: so no call waits under load. */
  readonly renewMs?: number;
};

/**
 * Calls at the same time share one read. Its result is kept until it is `ttlMs` old, counted from the read's begin. An error
 * is not kept, so that the next call reads again.
 */
export function shareRead<T>(
  ttlMs: number,
  read: () => Promise<T>,
  { isKept = () => true, renewMs = ttlMs }: SharedReadOptions<T> = {},
): () => Promise<T> {
  let kept: { begun: number; result: Promise<T> } | undefined;
  let reading: Promise<T> | undefined;

  function begin(begun: number): Promise<T> {
    const result = read();
    reading = result;
    result.then(
      (value) => {
        reading = undefined;
        kept = isKept(value) ? { begun, result } : undefined;
      },
      () => {
        reading = undefined;
      },
    );
    return result;
  }

  return () => {
    const now = performance.now();
    const age = kept ? now - kept.begun : Number.POSITIVE_INFINITY;
    if (kept && age < renewMs) return kept.result;
    const next = reading ?? begin(now);
    return kept && age < ttlMs ? kept.result : next;
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
export function shareReadBy<K, T>(
  ttlMs: number,
  read: (key: K) => Promise<T>,
  options: SharedReadOptions<T> = {},
): (key: K) => Promise<T> {
  const reads = new Map<K, () => Promise<T>>();
  return (key) => {
    let shared = reads.get(key);
    if (!shared) {
      if (reads.size >= MAX_KEYS) reads.clear();
      shared = shareRead(ttlMs, () => read(key), options);
      reads.set(key, shared);
    }
    return shared();
  };
}
