import type { Database } from "../db/connect.ts";
import { listenTo } from "../db/listen.ts";
import { isSettled, type Purchase } from "./purchase.ts";
import { readPurchases } from "./purchases.ts";

/** Postgres channel on which the writer announces purchases that moved on; the payload is the purchase's id. */
export const PURCHASE_CHANNEL = "service_purchase";

/** The backstop for notifications that were lost, in ms. */
const POLL_MS = 1000;

export type PurchaseWaiter = {
  /**
   * Resolves with the purchase once it is mined, confirmed or failed, or as it stands after `timeoutMs`. Rejects only
   * when at that time it cannot be read.
   */
  wait(id: string, timeoutMs: number): Promise<Purchase>;
  close(): Promise<void>;
};

/**
 * Waits for purchases on behalf of any number of callers with one connection of its own: a notification is a hint to
 * read the row, and a slow poll reads the rows whose hint was lost. It starts, and comes back, while Postgres is away.
 */
export function createPurchaseWaiter(databaseUrl: string, db: Database): PurchaseWaiter {
  const waiting = new Map<string, Set<(purchase: Purchase) => void>>();
  const hinted = new Set<string>();
  let flush: NodeJS.Timeout | undefined;

  async function look(ids: readonly string[]): Promise<void> {
    for (const purchase of await readPurchases(db, ids)) {
      if (isSettled(purchase)) for (const resolve of waiting.get(purchase.id) ?? []) resolve(purchase);
    }
  }

  // A read that fails is made up for by the next poll, and at the latest by the read at the time-out.
  const lookQuietly = (ids: readonly string[]) => void look(ids).catch(() => {});

  function hint(id: string): void {
    if (!waiting.has(id)) return;
    hinted.add(id);
    // Hints of one block come in a burst: they share one query.
    flush ??= setTimeout(() => {
      flush = undefined;
      const ids = [...hinted];
      hinted.clear();
      lookQuietly(ids);
    }, 2);
  }

  const listener = listenTo(databaseUrl, {
    name: "purchase-waiter",
    channel: PURCHASE_CHANNEL,
    onHint: hint,
    onStart: () => lookQuietly([...waiting.keys()]),
  });
  const poll = setInterval(() => {
    if (waiting.size > 0) lookQuietly([...waiting.keys()]);
  }, POLL_MS);

  return {
    async wait(id, timeoutMs) {
      const settled = new Promise<Purchase | undefined>((resolve) => {
        const timer = setTimeout(() => done(undefined), timeoutMs);
        const waiters = waiting.get(id) ?? new Set();
        waiting.set(id, waiters.add(done));
        function done(purchase: Purchase | undefined): void {
          clearTimeout(timer);
          waiters.delete(done);
          if (waiters.size === 0) waiting.delete(id);
          resolve(purchase);
        }
        // It may have settled before this call: the first look is at once.
        lookQuietly([id]);
      });
      const purchase = (await settled) ?? (await readPurchases(db, [id])).at(0);
      if (!purchase) throw new Error(`there is no purchase ${id}`);
      return purchase;
    },
    async close() {
      clearInterval(poll);
      clearTimeout(flush);
      await listener.close();
    },
  };
}
