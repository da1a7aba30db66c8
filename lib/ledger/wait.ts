import type { Database } from "../db/connect.ts";
import { listenTo } from "../db/listen.ts";
import { isSettled, type Purchase } from "./purchase.ts";
import { readPurchases } from "./purchases.ts";

/** Postgres channel on which the writer announces purchases that moved on; the payload is the purchase's id. */
export const PURCHASE_CHANNEL = "service_purchase";

/** The backstop for notifications that were lost, in ms. */
const POLL_MS = 1000;

export type Waiter<T> = {
  /**
   * Resolves with what has this id once it is settled, or as it stands after `timeoutMs`. Rejects only when at that time
   * it cannot be read.
   */
  wait(id: string, timeoutMs: number): Promise<T>;
  close(): Promise<void>;
};

export type WaiterOptions<T> = {
  /** What is waited for, in one word. */
  what: string;
  /** On it come the ids of those that moved on. */
  channel: string;
  /** Those of these ids that there are, in any order. */
  read: (ids: readonly string[]) => Promise<readonly T[]>;
  isSettled: (one: T) => boolean;
};

/**
 * Waits on behalf of any number of callers with one connection of its own: a notification is a hint to read the row, and
 * a slow poll reads the rows whose hint was lost. It starts, and comes back, while Postgres is away.
 */
export function createWaiter<T extends { id: string }>(
  databaseUrl: string,
  { what, channel, read, isSettled }: WaiterOptions<T>,
): Waiter<T> {
  const waiting = new Map<string, Set<(one: T) => void>>();
  const hinted = new Set<string>();
  let flush: NodeJS.Timeout | undefined;

  async function look(ids: readonly string[]): Promise<void> {
    for (const one of await read(ids)) {
      if (isSettled(one)) for (const resolve of waiting.get(one.id) ?? []) resolve(one);
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
    name: `${what}-waiter`,
    channel,
    onHint: hint,
    onStart: () => lookQuietly([...waiting.keys()]),
  });
  const poll = setInterval(() => {
    if (waiting.size > 0) lookQuietly([...waiting.keys()]);
  }, POLL_MS);

  return {
    async wait(id, timeoutMs) {
      const settled = new Promise<T | undefined>((resolve) => {
        const timer = setTimeout(() => done(undefined), timeoutMs);
        const waiters = waiting.get(id) ?? new Set();
        waiting.set(id, waiters.add(done));
        function done(one: T | undefined): void {
          clearTimeout(timer);
          waiters.delete(done);
          if (waiters.size === 0) waiting.delete(id);
          resolve(one);
        }
        // It may have settled before this call: the first look is at once.
        lookQuietly([id]);
      });
      const one = (await settled) ?? (await read([id])).at(0);
      if (!one) throw new Error(`there is no ${what} ${id}`);
      return one;
    },
    async close() {
      clearInterval(poll);
      clearTimeout(flush);
      await listener.close();
    },
  };
}

export type PurchaseWaiter = Waiter<Purchase>;

/** Waits for purchases to be mined, confirmed, failed or replaced. */
export const createPurchaseWaiter = (databaseUrl: string, db: Database): PurchaseWaiter =>
  createWaiter<Purchase>(databaseUrl, {
    what: "purchase",
    channel: PURCHASE_CHANNEL,
    read: (ids) => readPurchases(db, ids),
    isSettled,
  });
