/** A client that retries a purchase as the API documents. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { HttpAnswer } from "../../support/http.ts";

/** Seconds before each retry; a longer `Retry-After` is honoured. */
const RETRY_WAITS = [1, 2, 4, 8, 16, 32] as const;

const receipt = z.object({
  purchaseId: z.string(),
  txHash: z.string(),
  blockNumber: z.number(),
  policyId: z.string(),
  buyer: z.string(),
  productId: z.string(),
  coverageAmount: z.string(),
  premiumPaid: z.string(),
});
export type Receipt = z.output<typeof receipt>;

/** The final answer to a client; `retries` counts the calls after the first. */
export type FinalAnswer = { readonly status: 200 | 201; readonly receipt: Receipt; readonly retries: number };

/** `guided`: waits as the API says. `impatient`: retries every 0.3 s, which must do no harm either. */
export type RetryPace = "guided" | "impatient";

const IMPATIENT_MS = 300;
const IMPATIENT_TRIES = 300;

/**
 * Retries after connection errors and 5xx until there is a receipt. @throws on an answer that must not be retried, and
 * when the retries are used up.
 */
export async function buyWithRetries(
  call: () => Promise<HttpAnswer>,
  pace: RetryPace = "guided",
): Promise<FinalAnswer> {
  const seen: string[] = [];
  for (let retries = 0; ; retries += 1) {
    const answer = await call().catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else {
      const { status } = answer;
      if (status === 200 || status === 201) return { status, receipt: receipt.parse(answer.json), retries };
      seen.push(`${status} ${answer.text}`);
      // A 502 means that the purchase reverted: the API documents no retry.
      if (status < 500 || status === 502) throw new Error(`a purchase was refused: ${seen.join("; ")}`);
    }
    if (pace === "impatient" && retries < IMPATIENT_TRIES) {
      await sleep(IMPATIENT_MS);
      continue;
    }
    const wait = RETRY_WAITS[retries];
    if (wait === undefined) throw new Error(`a purchase got no receipt: ${seen.join("; ")}`);
    const wanted = typeof answer === "string" ? 0 : Number(answer.headers.get("retry-after") ?? 0);
    await sleep(1000 * Math.max(wait, wanted));
  }
}
