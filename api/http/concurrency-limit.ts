import type { ApiError } from "../../lib/errors.ts";

/** Runs work while there is room for it. */
export type Room = <T>(work: () => Promise<T>) => Promise<T>;

/** Room for so many at once. Whoever finds none is refused with what `full` makes, and does not queue. */
export function createRoom(places: number, full: () => ApiError): Room {
  let taken = 0;
  return async (work) => {
    if (taken >= places) throw full();
    taken += 1;
    try {
      return await work();
    } finally {
      taken -= 1;
    }
  };
}
