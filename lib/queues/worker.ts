import pLimit from "p-limit";
import { HEARTBEAT_MS } from "../db/silent-server.ts";
import {
  countQueueSessions,
  inTime,
  newWorker,
  type QueueName,
  type QueueOptions,
  type WakeUp,
} from "./backend.ts";

export type QueueWorker = {
  /** Takes no more jobs; jobs that have begun continue. */
  pause(): Promise<void>;
  resume(): void;
  /** Waits for the jobs that have begun, and leaves the rest in the queue. */
  close(): Promise<void>;
};

export type WorkerOptions = QueueOptions & {
  /** Most ids that are handled at the same time. */
  concurrency: number;
  /** Must be idempotent: a wake-up may come twice. A rejection is reported to `onError` and not retried. */
  handle: (id: string, traceparent?: string) => Promise<void>;
};

/** Starts the receiving side, paused: it takes jobs after `resume`. Rejects when the queue's server is down. */
async function startWorker(name: QueueName, options: WorkerOptions): Promise<QueueWorker> {
  const { concurrency, handle, onError } = options;
  // BullMQ limits jobs, and a job has up to ten ids.
  const limit = pLimit(concurrency);
  async function run(job: { data: WakeUp }): Promise<void> {
    const results = await Promise.allSettled(
      job.data.ids.map((id) => limit(() => handle(id, job.data.traces?.[id]))),
    );
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
  const worker = newWorker(name, run, options);
  worker.on("error", (error: Error) => onError?.(error));
  worker.on("failed", (_job: unknown, error: Error) => onError?.(error));
  try {
    await inTime("connecting to the queue", worker.waitUntilReady());
  } catch (error) {
    void worker.close(true).catch(() => {});
    throw error;
  }

  // On Postgres the connection that listens has no other statements, and its server's end is found by them alone.
  let beating = false;
  async function beat(): Promise<void> {
    if (beating) return;
    beating = true;
    await worker.backend.setName(name).catch(() => {});
    beating = false;
  }
  const heartbeat = options.redisUrl === undefined ? setInterval(beat, HEARTBEAT_MS) : undefined;

  const uncount = countQueueSessions(name, options, true);
  let running = false;
  return {
    async pause() {
      await worker.pause(true);
    },
    resume() {
      if (running) return worker.resume();
      running = true;
      // The promise settles when the worker closes; earlier faults arrive as `error` events.
      void worker.run().catch((error: Error) => onError?.(error));
    },
    async close() {
      uncount();
      clearInterval(heartbeat);
      await worker.close();
    },
  };
}

export const startPurchaseWorker = (options: WorkerOptions): Promise<QueueWorker> =>
  startWorker("purchases", options);

const testnetKinds = ["purchase", "claim"] as const;

/** A wake-up of the testnet's queue. */
export type TestnetWakeUp = { kind: (typeof testnetKinds)[number]; id: string };

/** Receives the wake-ups of sandbox and faucet. */
export const startTestnetWorker = (
  options: Omit<WorkerOptions, "handle"> & {
    handle: (wakeUp: TestnetWakeUp, traceparent?: string) => Promise<void>;
  },
): Promise<QueueWorker> =>
  startWorker("testnet", {
    ...options,
    async handle(job, traceparent) {
      const kind = testnetKinds.find((one) => job.startsWith(`${one}-`));
      if (kind) await options.handle({ kind, id: job.slice(kind.length + 1) }, traceparent);
    },
  });

/** `handle` must note the id and return: a job that lasted as long as a delivery would delay the others. */
export const startWebhookWorker = (options: WorkerOptions): Promise<QueueWorker> =>
  startWorker("webhooks", options);
