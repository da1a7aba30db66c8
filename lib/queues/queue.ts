import { randomUUID } from "node:crypto";
import type { JobsOptions } from "bullmq";
import { createBatcher } from "../batcher.ts";
import {
  countQueueSessions,
  inTime,
  newQueue,
  type QueueName,
  type QueueOptions,
  type WakeUp,
} from "./backend.ts";

/** An id to wake a worker for, in how many ms, and the trace that it belongs to. */
type DelayedId = { id: string; delayMs: number; traceparent?: string | undefined };
/** Most ids of one job: few enough that several writers share a burst. */
const JOB_IDS = 10;
/** Most ids that are added to the queue together. */
const ROUND_IDS = 500;

export type PurchaseQueue = {
  /** Wakes the writer for this purchase, with the trace of its request. Rejects while the queue is down; the writer then finds the purchase's row. */
  wake(id: string, traceparent?: string): Promise<void>;
  close(): Promise<void>;
};

export type WebhookQueue = {
  /**
   * Wakes a writer for this id, at once or in `delayMs`. A wake-up for an id that a worker is handling is not lost: the
   * id is handled again. Rejects while the queue is down; the writer then finds the rows.
   */
  wake(id: string, delayMs?: number): Promise<void>;
  /**
   * Ensures that one writer is woken for `id` every `everyMs`, also after the queue was emptied. Rejects while the
   * queue is down.
   */
  ensureEvery(id: string, everyMs: number): Promise<void>;
  close(): Promise<void>;
};

export type TestnetQueue = {
  /** Wakes the writer for this purchase of the sandbox, with the trace of its request. Rejects while the queue is down; the writer finds the row. */
  wakePurchase(id: string, traceparent?: string): Promise<void>;
  /** Wakes the writer for this claim to the faucet, with the trace of its request. Rejects while the queue is down; the writer finds the row. */
  wakeClaim(id: string, traceparent?: string): Promise<void>;
  close(): Promise<void>;
};

type Sender = Omit<WebhookQueue, "wake"> & {
  wake(id: string, delayMs?: number, traceparent?: string): Promise<void>;
};
type NewJob = { data: WakeUp; opts: JobsOptions };

function tracesOf(round: readonly DelayedId[], ids: readonly string[]): Pick<WakeUp, "traces"> {
  const traced = round.flatMap(({ id, traceparent }) =>
    traceparent !== undefined && ids.includes(id) ? [[id, traceparent] as const] : [],
  );
  return traced.length > 0 ? { traces: Object.fromEntries(traced) } : {};
}

/** The jobs for a round of wake-ups. Ids with the same delay share jobs. */
function jobsFor(round: readonly DelayedId[], optionsFor: (ids: readonly string[]) => JobsOptions): NewJob[] {
  const byDelay = new Map<number, Set<string>>();
  for (const { id, delayMs } of round) {
    const ids = byDelay.get(delayMs) ?? new Set();
    byDelay.set(delayMs, ids.add(id));
  }
  return [...byDelay].flatMap(([delay, unique]) =>
    Array.from({ length: Math.ceil(unique.size / JOB_IDS) }, (_, n) => {
      const ids = [...unique].slice(n * JOB_IDS, (n + 1) * JOB_IDS);
      // Without an id BullMQ takes one from a sequence, which it creates at the first job: the api may create nothing.
      const opts = { jobId: randomUUID(), ...optionsFor(ids), ...(delay > 0 ? { delay } : {}) };
      return { data: { ids, ...tracesOf(round, ids) }, opts };
    }),
  );
}

/**
 * The sending side of a queue. It connects at its first use, and anew after a failure, because a BullMQ queue that is
 * created while Postgres is down never recovers.
 */
function openQueue(
  name: QueueName,
  options: QueueOptions,
  optionsFor: (ids: readonly string[]) => JobsOptions,
): Sender {
  const uncount = countQueueSessions(name, options);
  let opened: Promise<ReturnType<typeof newQueue>> | undefined;

  async function open() {
    const queue = newQueue(name, options);
    queue.on("error", (error) => options.onError?.(error));
    try {
      await inTime("connecting to the queue", queue.waitUntilReady());
      return queue;
    } catch (error) {
      opened = undefined;
      void queue.close().catch(() => {});
      throw error;
    }
  }

  const wake = createBatcher(async (round: DelayedId[]) => {
    opened ??= open();
    const queue = await opened;
    // Not `addBulk`: on Postgres it creates temporary tables, which cost more than all these statements.
    const added = jobsFor(round, optionsFor).map(({ data, opts }) => queue.add(name, data, opts));
    await inTime("waking the writer", Promise.all(added));
  }, ROUND_IDS);

  return {
    wake: (id, delayMs = 0, traceparent = undefined) => wake({ id, delayMs, traceparent }),
    async ensureEvery(id, everyMs) {
      opened ??= open();
      const queue = await opened;
      const ensure = async () => {
        if (await queue.getJobScheduler(id)) return;
        await queue.upsertJobScheduler(id, { every: everyMs }, { name, data: { ids: [id] } });
      };
      await inTime("scheduling", ensure());
    },
    async close() {
      uncount();
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
}

/** The queue of purchases. A job for one purchase has that purchase's id: BullMQ then drops a second waiting job. */
export function openPurchaseQueue(options: QueueOptions): PurchaseQueue {
  const { wake, close } = openQueue("purchases", options, ([id, ...others]) =>
    id && others.length === 0 ? { jobId: id } : {},
  );
  return { wake: (id, traceparent) => wake(id, 0, traceparent), close };
}

/** The queue of webhooks. Its ids are a subscription's, `test-<delivery id>`, or the name of a periodic task. */
export const openWebhookQueue = (options: QueueOptions): WebhookQueue =>
  // With the subscription's id as the job's id, BullMQ would drop wake-ups that come while that job is handled.
  openQueue("webhooks", options, () => ({}));

export function openTestnetQueue(options: QueueOptions): TestnetQueue {
  const { wake, close } = openQueue("testnet", options, () => ({}));
  return {
    wakePurchase: (id, traceparent) => wake(`purchase-${id}`, 0, traceparent),
    wakeClaim: (id, traceparent) => wake(`claim-${id}`, 0, traceparent),
    close,
  };
}
