/** Epochs of bonds: the month in which they mature, `202812`. */
import { utcMonth } from "./time.ts";

/** The month's first second, Unix seconds: where its bar stands. */
export const epochStart = (epochId: string): number =>
  Date.UTC(Number(epochId.slice(0, -2)), Number(epochId.slice(-2)) - 1) / 1000;

/** `Dec 2028` */
export const epochName = (epochId: string): string => utcMonth(epochStart(epochId));
