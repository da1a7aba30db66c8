import type { Sql } from "postgres";
import { listenTo } from "../db/listen.ts";
import { isSettled, type Purchase } from "./purchase.ts";
import { readPurchases } from "./purchases.ts";

/** Postgres channel on which the writer announces settled purchases; the payload is the purchase's id. */
export const PURCHASE_CHANNEL = "service_purchase";

/** How often rows are read because their notification may have been lost, in ms. */
const POLL_MS = 1000;
export type Waiter<T> = {
  /**
   * Resolves with the row of this id as soon as it is settled, or in its present state after `timeoutMs`. Rejects when
   * the row cannot be read at that time, or does not exist.
   */
  wait(id: string, timeoutMs: number): Promise<T>;
  close(): Promise<void>;
};

export type WaiterOptions<T> = {
  /** What the rows are, in one word. */
  what: string;
  /** The Postgres channel on which the ids of settled rows are announced. */
  channel: string;
  /** Reads the rows of these ids that exist, in any order. */
  read: (ids: readonly string[]) => Promise<readonly T[]>;
  isSettled: (row: T) => boolean;
};

/**
 * Waits for rows on behalf of any number of the api's callers, with one connection of its own. A notification causes a read of
 * the row; in case notifications are lost, a poll reads all rows every second. It starts, and reconnects, while
 * Postgres is down.
 */
export function createWaiter<T extends { id: string }>(
  databaseUrl: string,
  { what, channel, read, isSettled }: WaiterOptions<T>,
): Waiter<T> {
  const waiting = new Map<string, Set<(row: T) => void>>();
  /** Ids that were announced and not read yet. */
  const announced = new Set<string>();
  let collecting: NodeJS.Timeout | undefined;

  async function resolveSettled(ids: Iterable<string>): Promise<void> {
    try {
      for (const row of await read([...ids])) {
        if (isSettled(row)) for (const resolve of waiting.get(row.id) ?? []) resolve(row);
      }
    } catch {
      // The next poll reads again, and the last read comes at the timeout.
    }
  }

  function onNotification(id: string): void {
    if (!waiting.has(id)) return;
    announced.add(id);
    // Notifications of one block come in a burst: they share one query.
    collecting ??= setTimeout(() => {
      collecting = undefined;
      const ids = [...announced];
      announced.clear();
      void resolveSettled(ids);
    }, 2);
  }

  const onStart = () => void resolveSettled(waiting.keys());
  const name = `${what}-waiter`;
  const listener = listenTo(databaseUrl, { name, channel, onNotification, onStart });
  const poll = setInterval(() => {
    if (waiting.size > 0) void resolveSettled(waiting.keys());
  }, POLL_MS);

  return {
    async wait(id, timeoutMs) {
      const settled = new Promise<T | undefined>((resolve) => {
        const timer = setTimeout(() => done(undefined), timeoutMs);
        const waits = waiting.get(id) ?? new Set();
        waiting.set(id, waits.add(done));
        function done(row: T | undefined): void {
          clearTimeout(timer);
          waits.delete(done);
          if (waits.size === 0) waiting.delete(id);
          resolve(row);
        }
        // The row may have been settled before this call.
        void resolveSettled([id]);
      });
      const row = (await settled) ?? (await read([id])).at(0);
      if (!row) throw new Error(`there is no ${what} ${id}`);
      return row;
    },
    async close() {
      clearInterval(poll);
      clearTimeout(collecting);
      await listener.close();
    },
  };
}

export type PurchaseWaiter = Waiter<Purchase>;

/** Waits until purchases are mined, confirmed, failed or replaced. */
export const createPurchaseWaiter = (databaseUrl: string, sql: Sql): PurchaseWaiter =>
  createWaiter<Purchase>(databaseUrl, {
    what: "purchase",
    channel: PURCHASE_CHANNEL,
    read: (ids) => readPurchases(sql, ids),
    isSettled,
  });
