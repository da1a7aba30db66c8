/** A client that keeps to the API's guidance for retries. */
import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import type { HttpAnswer } from "../../support/http.ts";

/** Seconds before each retry; a longer `Retry-After` is honoured. */
const WAITS = [1, 2, 4, 8, 16, 32] as const;

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

/** What a client was told in the end; `retries` counts the calls after the first. */
export type Told = { readonly status: 200 | 201; readonly receipt: Receipt; readonly retries: number };

/** `guided`: waits as the API says. `impatient`: asks again and again, which must do no harm either. */
export type Manner = "guided" | "impatient";

const IMPATIENT_MS = 300;
const IMPATIENT_TRIES = 300;

/**
 * Calls until there is a receipt: a server that is away and a 5xx are asked again. @throws on an answer that says not to
 * try again, and when the retries are used up.
 */
export async function buyPatiently(
  call: () => Promise<HttpAnswer>,
  manner: Manner = "guided",
): Promise<Told> {
  const seen: string[] = [];
  for (let retries = 0; ; retries += 1) {
    const answer = await call().catch((fault: unknown) => String(fault));
    if (typeof answer === "string") seen.push(answer);
    else {
      const { status } = answer;
      if (status === 200 || status === 201) return { status, receipt: receipt.parse(answer.json), retries };
      seen.push(`${status} ${answer.text}`);
      // A 502 says that the purchase reverted: no guidance wants that repeated.
      if (status < 500 || status === 502) throw new Error(`a purchase was refused: ${seen.join("; ")}`);
    }
    if (manner === "impatient" && retries < IMPATIENT_TRIES) {
      await sleep(IMPATIENT_MS);
      continue;
    }
    const wait = WAITS[retries];
    if (wait === undefined) throw new Error(`a purchase got no receipt: ${seen.join("; ")}`);
    const wanted = typeof answer === "string" ? 0 : Number(answer.headers.get("retry-after") ?? 0);
    await sleep(1000 * Math.max(wait, wanted));
  }
}
