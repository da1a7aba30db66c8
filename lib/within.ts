import { setTimeout as sleep } from "node:timers/promises";

/** `work`, or the rejection with `late()` once `ms` milliseconds have passed; the work itself goes on unheard. */
export async function within<T>(ms: number, work: PromiseLike<T>, late: () => Error): Promise<T> {
  // Asked once: a query of drizzle is sent anew each time that somebody waits for it.
  const result = Promise.resolve(work);
  let timer: NodeJS.Timeout | undefined;
  const bell = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(late()), ms);
  });
  try {
    return await Promise.race([result, bell]);
  } finally {
    clearTimeout(timer);
  }
}

/** The value of `work` if it is there within `ms` milliseconds; undefined when it is not, or when the work fails. */
export const soon = <T>(ms: number, work: Promise<T>): Promise<T | undefined> =>
  Promise.race([work.catch(() => undefined), sleep(ms).then(() => undefined)]);

/** `work`, or undefined as soon as `signal` is aborted; the work itself goes on unheard. */
export function unlessAborted<T>(signal: AbortSignal, work: Promise<T>): Promise<T | undefined> {
  return new Promise((resolve, reject) => {
    const stop = () => resolve(undefined);
    if (signal.aborted) stop();
    signal.addEventListener("abort", stop);
    work.then(resolve, reject).finally(() => signal.removeEventListener("abort", stop));
  });
}
