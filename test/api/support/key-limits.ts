/** Keys with the default limits, and simultaneous requests that use them up. */
import { expect } from "vitest";
import type { HttpAnswer } from "../../support/http.ts";
import { failure, issueKey, newWallet } from "./api.ts";
import { type Client, headerNumber, repeat } from "./rate-limits.ts";

/** Counts for the key and reads nothing else. */
export const me = "/api/v1/auth/me";
/** Unsets the variables, so that the default limits apply. */
export const defaults = { FREE_KEY_RATE_LIMIT: "", PAID_KEY_RATE_LIMIT: "" };

export async function newKey(client: Client, tier: "free" | "paid" = "free", wallet = newWallet()) {
  const { keyId, headers } = await issueKey(client, wallet, tier);
  return { keyId, request: { headers } };
}

/** Sends `count` simultaneous requests, spread over the clients. @returns how many got 200; the others got 429 */
export async function countAccepted(to: readonly Client[], count: number, request: object): Promise<number> {
  const sent = repeat(count, me).map((path, i) => to[i % to.length]?.(path, request));
  const answers = (await Promise.all(sent)).filter((answer): answer is HttpAnswer => answer !== undefined);
  expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(failure(answer)).toEqual([429, "rate_limit"]);
    expect(headerNumber(answer, "retry-after")).toBe(headerNumber(answer, "x-ratelimit-reset"));
  }
  return answers.filter(({ status }) => status === 200).length;
}
