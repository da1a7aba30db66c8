import { LRUCache } from "lru-cache";
import { createFairLimit, type FairLimit, type Slot } from "./concurrency-limit.ts";
import type { HostOf } from "./receiver-hosts.ts";

/**
 * Decides when each subscription's deliveries are made. A subscription has one batch at a time. After a failed or slow call
 * it is in the slow lane, which has slots of its own, so that it does not delay the others. In each lane, hosts take turns, and
 * no host gets all slots.
 */

export type Lane = "regular" | "slow";

/** The lane of the subscription's next batch, and whether that should follow at once. */
export type BatchEnd = { readonly lane: Lane; readonly again: boolean };

export type Dispatcher = {
  /** The subscription has due deliveries. During its batch, another one follows. */
  wake(webhookId: string): void;
  /** The subscription's last attempt failed, perhaps in another writer. */
  markSlow(webhookId: string): void;
  /** Subscriptions that wait for a batch or have one. */
  readonly size: number;
  /** Starts no more batches; resolves when the running ones have ended. */
  stop(): Promise<void>;
};

/** One slot in four belongs to the slow lane. */
const SLOW_SHARE = 4;
/** Concurrent batches for one host and port, by lane. */
export const HOST_CONCURRENCY: Record<Lane, number> = { regular: 128, slow: 32 };
/** Batches per slot that may continue after an early release, for when many receivers hang at once. */
const OVERTIME_PER_SLOT = 4;
/** Concurrent calls to one host and port. */
export const CALLS_PER_HOST = (HOST_CONCURRENCY.regular + HOST_CONCURRENCY.slow) * (1 + OVERTIME_PER_SLOT);
/** Subscriptions in the slow lane. One more moves the oldest to the regular lane, until its next failure. */
const MAX_SLOW = 50_000;

export type DispatcherOptions = {
  /** Concurrent batches. */
  concurrency: number;
  hostOf: HostOf;
  /** Delivers a subscription's due events. Must not reject. */
  deliver: (webhookId: string, lane: Lane, slot: Slot) => Promise<BatchEnd>;
  /** A subscription's host could not be read; the subscription waits for the next wake-up. */
  onError: (error: unknown) => void;
};

export function createDispatcher({ concurrency, hostOf, deliver, onError }: DispatcherOptions): Dispatcher {
  const slowSlots = Math.max(1, Math.floor(concurrency / SLOW_SHARE));
  const limitOf = (lane: Lane, total: number) =>
    createFairLimit({ total, perKey: HOST_CONCURRENCY[lane], overtimePerSlot: OVERTIME_PER_SLOT });
  const limits: Record<Lane, FairLimit> = {
    regular: limitOf("regular", Math.max(1, concurrency - slowSlots)),
    slow: limitOf("slow", slowSlots),
  };
  /** Subscriptions that wait for a batch or have one, and whether another batch must follow. */
  const active = new Map<string, { delivering: boolean; again: boolean }>();
  const slow = new LRUCache<string, true>({ max: MAX_SLOW });
  let stopped = false;
  let ended = () => {};

  function setLane(webhookId: string, lane: Lane): void {
    if (lane === "slow") slow.set(webhookId, true);
    else slow.delete(webhookId);
  }

  async function deliverWhileWoken(webhookId: string): Promise<void> {
    const state = { delivering: false, again: true };
    active.set(webhookId, state);
    while (state.again && !stopped) {
      state.delivering = false;
      // Wait for a slot before claiming anything: a waiting subscription holds no lease.
      const host = await hostOf(webhookId).catch(onError);
      if (host === undefined) break;
      const lane = slow.has(webhookId) ? "slow" : "regular";
      const slot = await limits[lane].acquire(host);
      if (!stopped) {
        state.delivering = true;
        state.again = false;
        const end = await deliver(webhookId, lane, slot);
        setLane(webhookId, end.lane);
        if (end.again) state.again = true;
      }
      slot.release();
    }
    active.delete(webhookId);
    if (active.size === 0) ended();
  }

  return {
    wake(webhookId) {
      const state = active.get(webhookId);
      if (state) state.again ||= state.delivering;
      else if (!stopped) void deliverWhileWoken(webhookId);
    },
    markSlow: (webhookId) => setLane(webhookId, "slow"),
    get size() {
      return active.size;
    },
    async stop() {
      stopped = true;
      if (active.size > 0) await new Promise<void>((resolve) => (ended = resolve));
    },
  };
}
