/** The result of `work`, or a rejection with `late()` after `ms` milliseconds; the work itself continues unobserved. */
export async function within<T>(ms: number, work: PromiseLike<T>, late: () => Error): Promise<T> {
  // Awaited once: drizzle sends a query again each time that its promise is awaited.
  const result = Promise.resolve(work);
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([result, timeout]);
  } finally {
    clearTimeout(timer);
  }
}

/** The result of `work` if it is there within `ms` milliseconds; undefined when it is not, or when the work fails. */
export const valueWithin = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  within(ms, work, () => new Error("late")).catch(() => undefined);

/** The result of `work`, or undefined as soon as `signal` is aborted; the work itself continues unobserved. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
