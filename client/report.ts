/** Reports of what a wallet has signed. All of them may be repeated: the API knows a report that it has. */
import { hasCode } from "./api-error.ts";
import type { Client } from "./client.ts";
import type { SignatureStep, TransactionStep } from "./execute.ts";
import type { Schema } from "./operations.ts";
import { randomHex } from "./random.ts";
import { isInDoubt, repeat, untilAnswered } from "./repeat.ts";
import { type RetryPolicy, specifiedRetries, waitBefore, waitBeforeRetry } from "./retries.ts";

type Report = NonNullable<TransactionStep["report"]>;

/** The API has noted the report, and its node has no block with the transaction. */
class ReportPending extends Error {
  override readonly name = "ReportPending";
}

/** Whether the API's node is behind the wallet's, which has the block. */
const isBehind = (error: unknown): boolean =>
  error instanceof ReportPending || hasCode(error, "tx_not_found");

/** Sends a report to the path of its body's form. */
function send(client: Client, { body }: Report, txHash: string, call: { signal?: AbortSignal }) {
  if ("listingId" in body)
    return client.post("/api/v1/marketplace/buy", { body: { ...body, txHash }, ...call });
  if ("usdAmount" in body) return client.post("/api/v1/redeem", { body: { ...body, txHash }, ...call });
  return client.post("/api/v1/marketplace/list", { body: { ...body, txHash }, ...call });
}

/**
 * Reports a mined transaction, and repeats it while the API's node does not have its block.
 * @returns the API's record
 * @throws ApiError, ConnectionError; ReportPending, ApiError `tx_not_found` if the API's node is still behind: report it later
 */
export const reportTransaction = (
  client: Client,
  prepared: Report,
  txHash: string,
  signal?: AbortSignal,
  retries: RetryPolicy = specifiedRetries,
): Promise<unknown> =>
  repeat(
    async () => {
      const record = await send(client, prepared, txHash, signal ? { signal } : {});
      if ("status" in record && record.status === "pending")
        throw new ReportPending(`The API's node has no block with ${txHash} yet: report it again later.`);
      return record;
    },
    (error, repetitions) =>
      isBehind(error) ? waitBefore(repetitions, retries) : waitBeforeRetry(error, repetitions, retries),
    signal,
  );

/** The API's node has not yet seen the allowance that the wallet's node has. */
class ApprovalPending extends Error {
  override readonly name = "ApprovalPending";
}

/** Waits until the API's node has the approval that the wallet has mined in place of a permit. @throws ApiError, ConnectionError, ApprovalPending */
export const waitUntilApproved = (
  client: Client,
  { body: { permit: _, buyer, ...order } }: SignatureStep["report"],
  signal?: AbortSignal,
  retries: RetryPolicy = specifiedRetries,
): Promise<void> =>
  repeat(
    async () => {
      const { steps } = await client.post("/api/v1/policies/prepare", {
        body: { ...order, from: buyer, relayed: true },
        ...(signal ? { signal } : {}),
      });
      if (steps.some(({ kind, status }) => kind === "signature" && status === "incomplete"))
        throw new ApprovalPending("The API's node has no block with the approval yet.");
    },
    (error, repetitions) =>
      error instanceof ApprovalPending
        ? waitBefore(repetitions, retries)
        : waitBeforeRetry(error, repetitions, retries),
    signal,
  );

/** The receipt of a purchase. */
export type PurchaseReceipt = Schema<"PurchaseReceipt">;

/**
 * The API has not said what became of a purchase: it may have been made. Never prepare it anew before `again` has told:
 * that asks for the same purchase under the same Idempotency-Key, so it is made once.
 */
export class PurchaseInDoubt extends Error {
  override readonly name = "PurchaseInDoubt";
  /** Asks again. @throws PurchaseInDoubt once more; ApiError when nothing was bought */
  readonly again: (signal?: AbortSignal) => Promise<PurchaseReceipt>;

  constructor(again: (signal?: AbortSignal) => Promise<PurchaseReceipt>, cause: unknown) {
    super("The service has not said whether it has bought.", { cause });
    this.again = again;
  }
}

/**
 * Makes the purchase for which a permit was signed.
 * @param signature of the permit; undefined where none was needed
 * @throws ApiError when it is refused, PurchaseInDoubt while its outcome is unknown, also when the signal ends the waiting
 */
export function reportPurchase(
  client: Client,
  { path, body }: SignatureStep["report"],
  signature: string | undefined,
  signal?: AbortSignal,
  retries: RetryPolicy = specifiedRetries,
): Promise<PurchaseReceipt> {
  const { permit, ...purchase } = body;
  const signed = permit && signature !== undefined ? { permit: { ...permit, signature } } : {};
  const request = { body: { ...purchase, ...signed }, headers: { "idempotency-key": randomHex() } };

  async function buy(stop?: AbortSignal): Promise<PurchaseReceipt> {
    try {
      const answer = await untilAnswered(
        () => client.post(path, { ...request, ...(stop ? { signal: stop } : {}) }),
        stop,
        retries,
      );
      if ("policyId" in answer && "premiumPaid" in answer) return answer;
    } catch (error) {
      if (!isInDoubt(error) && !stop?.aborted) throw error;
      throw new PurchaseInDoubt(buy, error);
    }
    // Only a call that does not wait gets the purchase in progress.
    throw new PurchaseInDoubt(buy, undefined);
  }
  return buy(signal);
}
