/** Keeps the page below the limit of its client address, which several people may share. */
import { ApiError, type RateLimit } from "../../client/index.ts";

/** The part of the limit that is left to clicks and to others: repeated reads stop there. */
const RESERVE = 0.25;
/** Rest after a refusal that names none, in seconds. */
const REST_SECONDS = 30;

let restUntil = 0;

function rest(seconds: number): void {
  restUntil = Math.max(restUntil, Date.now() + seconds * 1000);
}

/** Notes what an answer says about the limit. */
export function noteRateLimit(rateLimit: RateLimit | undefined): void {
  if (rateLimit && rateLimit.remaining < rateLimit.limit * RESERVE) rest(rateLimit.resetSeconds);
}

/** Notes a refused call. */
export function noteRefusal(error: unknown): void {
  if (error instanceof ApiError && error.code === "rate_limit") rest(error.retryAfterSeconds ?? REST_SECONDS);
}

/** Whether what is shown may be read again now. The first read of something never asks. */
export const mayRepeat = (): boolean => Date.now() >= restUntil;
