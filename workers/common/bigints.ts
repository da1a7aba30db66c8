/** `Math.min` and `Math.max` of two bigints. */
export const smaller = (a: bigint, b: bigint): bigint => (a < b ? a : b);
export const greater = (a: bigint, b: bigint): bigint => (a > b ? a : b);
