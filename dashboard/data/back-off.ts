/** Longest wait between two tries, in ms: who waits for the API to come back sees it soon. */
const LONGEST_MS = 15_000;

/** How long to wait after so many failures in a row, in ms: 2, 4, 8, then 15 seconds. */
export const nextPause = (failures: number): number => Math.min(1000 * 2 ** failures, LONGEST_MS);
