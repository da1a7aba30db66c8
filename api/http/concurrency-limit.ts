import pLimit from "p-limit";
import type { ApiError } from "../../lib/errors.ts";

/** Runs work unless the limit is reached. */
export type ConcurrencyLimit = <T>(work: () => Promise<T>) => Promise<T>;

/** Runs at most `max` works at once. Above that it rejects with `refuse()` at once, instead of queueing. */
export function createConcurrencyLimit(max: number, refuse: () => ApiError): ConcurrencyLimit {
  const limit = pLimit(max);
  return async (work) => {
    if (limit.activeCount + limit.pendingCount >= max) throw refuse();
    return limit(work);
  };
}
