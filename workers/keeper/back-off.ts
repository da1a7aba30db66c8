/** After the first failure, in seconds; each further one waits four times as long. */
const FIRST = 5;
const FACTOR = 4;
/** Nothing waits longer, in seconds. */
export const LONGEST = 3600;
/**
 * Nor longer than this what fails by its simulation, which costs no gas: a trigger can be paid for an hour after a round, and a
 * longer rest could sleep through that.
 */
export const LONGEST_UNSENT = 300;

/**
 * How long work rests after its `failures`-th failure in a row, in seconds. Never longer than a quarter of the time that is `left`
 * until its deadline, so that it is tried again while it can be done; `left` is undefined without a deadline. `longest`: in seconds.
 */
export function restAfter(failures: number, left: bigint | undefined, longest = LONGEST): number {
  const rest = Math.min(FIRST * FACTOR ** Math.min(failures - 1, 10), longest);
  if (left === undefined) return rest;
  return Math.max(FIRST, Math.min(rest, Math.floor(Number(left) / 4)));
}
