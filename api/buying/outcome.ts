/** How a call gets the outcome of its recorded purchase: it wakes the writer, waits, and notes what it reported. */
import type { Connection } from "../../lib/db/connect.ts";
import type { Purchase } from "../../lib/ledger/purchase.ts";
import { noteOutcomeReceived, wakeWithoutQueue } from "../../lib/ledger/purchases.ts";
import type { PurchaseWaiter } from "../../lib/ledger/waiter.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { unlessAborted, valueWithin } from "../../lib/timeout.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";

/** Longest wait for the wake-up of the writer, in ms; without it the writer's sweep finds the purchase. */
const WAKE_WAIT_MS = 250;

export type OutcomeParts = {
  readonly connection: Connection;
  readonly waiter: PurchaseWaiter;
  /** Wakes the writer for a purchase, and tells it the trace that the purchase belongs to. */
  readonly wake: (purchaseId: string, traceparent?: string) => Promise<void>;
  /** How long a call waits for its transaction, in ms. */
  readonly purchaseWaitMs: number;
  /** Aborted when the process stops: then calls are answered early. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
};

/** Wakes the writer through the queue, or, when that fails, through the database. Without both a sweep finds the purchase. */
export async function wakeWriter(
  { connection, wake, log }: OutcomeParts,
  { id }: Purchase,
  traceparent?: string,
): Promise<void> {
  if (traceparent !== undefined) log.info({ purchase: id, traceparent }, "waking the writer for a purchase");
  const waking = wake(id, traceparent).then(
    () => true,
    (error: unknown) => {
      log.warn({ err: errorText(error) }, "could not wake the writer");
      return undefined;
    },
  );
  if (!(await valueWithin(WAKE_WAIT_MS, waking))) await wakeWithoutQueue(connection.sql, id).catch(() => {});
}

/** Waits until the purchase is settled; returns it as last read when the wait is over. */
export async function waitUntilSettled(parts: OutcomeParts, purchase: Purchase): Promise<Purchase> {
  const { waiter, purchaseWaitMs, stopping, log } = parts;
  const waited = waiter.wait(purchase.id, purchaseWaitMs).catch((error) => {
    log.warn({ err: errorText(error), purchaseId: purchase.id }, "could not read the purchase");
    return undefined;
  });
  return (await unlessAborted(stopping, waited)) ?? purchase;
}

/** Records that a caller got the outcome. If that fails, the same call gets this outcome again for ten minutes. */
export async function noteReported({ connection, log }: OutcomeParts, { id }: Purchase): Promise<void> {
  await fromDatabase(() => noteOutcomeReceived(connection.sql, id)).catch((error) =>
    log.warn({ err: errorText(error), purchaseId: id }, "could not note that the outcome was reported"),
  );
}
