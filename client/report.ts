/** Reports of what a wallet has signed. All of them may be repeated: the API knows a report that it has. */
import { ConnectionError, hasCode } from "./api-error.ts";
import type { Client } from "./client.ts";
import type { SignatureStep, TransactionStep } from "./execute.ts";
import { pause } from "./pause.ts";

/** Tries of one report; the first waits between them are 1, 2 and 4 s where the API names none. */
const TRIES = 8;
const LONGEST_WAIT_SECONDS = 8;

/** Repeats a call while no answer comes, or the API says that it is still at it. @throws the last error */
async function untilAnswered<T>(call: () => Promise<T>, signal?: AbortSignal): Promise<T> {
  for (let tries = 1; ; tries += 1) {
    try {
      return await call();
    } catch (error) {
      const isPending = hasCode(
        error,
        "purchase_pending",
        "database_unavailable",
        "rate_limit",
        "chain_not_found",
      );
      if ((!isPending && !(error instanceof ConnectionError)) || tries === TRIES) throw error;
      const asked = isPending ? error.retryAfterSeconds : undefined;
      await pause(1000 * (asked ?? Math.min(2 ** (tries - 1), LONGEST_WAIT_SECONDS)), signal);
    }
  }
}

type TransactionReport = NonNullable<TransactionStep["report"]>;

/** Reports a mined transaction. @returns the API's record @throws ApiError, ConnectionError */
export const reportTransaction = (
  client: Client,
  { path, body }: TransactionReport,
  txHash: string,
  signal?: AbortSignal,
): Promise<unknown> =>
  untilAnswered(
    () => client.post(path, { body: { ...body, txHash }, ...(signal ? { signal } : {}) }),
    signal,
  );

/** A name of one purchase, which no other has: 16 random bytes. */
function newIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/**
 * Makes the purchase for which a permit was signed. All tries have one Idempotency-Key, so it is made once.
 * @param signature of the permit; undefined where none was needed
 * @returns the receipt @throws ApiError, ConnectionError
 */
export function reportPurchase(
  client: Client,
  { path, body }: SignatureStep["report"],
  signature: string | undefined,
  signal?: AbortSignal,
): Promise<unknown> {
  const { permit, ...purchase } = body;
  const headers = { "idempotency-key": newIdempotencyKey() };
  const signed = permit && signature !== undefined ? { permit: { ...permit, signature } } : {};
  return untilAnswered(
    () => client.post(path, { body: { ...purchase, ...signed }, headers, ...(signal ? { signal } : {}) }),
    signal,
  );
}
