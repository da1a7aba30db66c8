import { createPostgresBackend, type PostgresPoolConfig, Queue, Worker, withBackend } from "bullmq";

/**
 * The queues: BullMQ on Postgres, or on Redis where `REDIS_URL` names one. The truth is in Postgres either way, and a
 * job is only a wake-up that carries an id: losing every queue loses nothing.
 */

const QUEUE = "purchases";
type WakeUp = { id: string };

const onPostgres = withBackend(createPostgresBackend);

/** Keys in Redis begin with this, so that several services can share one server. */
const REDIS_PREFIX = "cover";
/** How long a wake-up may take before the caller goes on without it, in ms. */
const WAKE_TIMEOUT_MS = 3000;
/** A job whose writer died is given to another one after this time, in ms. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;

export type QueueOptions = {
  databaseUrl: string;
  redisUrl: string | undefined;
  /** Hears of connections that broke; BullMQ mends them by itself. */
  onError?: (error: Error) => void;
};

export type PurchaseQueue = {
  /** Wakes the writer for this purchase. Rejects when the queue is away: the row stands, and the writer finds it. */
  wake(id: string): Promise<void>;
  close(): Promise<void>;
};

export type PurchaseWorker = {
  /** Takes no more jobs; those at work go on. */
  pause(): Promise<void>;
  resume(): void;
  /** Waits for the jobs at work, leaves the rest in the queue. */
  close(): Promise<void>;
};

/** Two connections for statements are as fast as ten; one more listens. */
const postgresConnection = (databaseUrl: string): PostgresPoolConfig => ({
  connectionString: databaseUrl,
  schema: "bullmq",
  migrate: true,
  max: 2,
  connectionTimeoutMillis: WAKE_TIMEOUT_MS,
});

async function within<T>(ms: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} took longer than ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

function newQueue({ databaseUrl, redisUrl }: QueueOptions) {
  const defaultJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };
  if (redisUrl === undefined) {
    const connection = postgresConnection(databaseUrl);
    return new onPostgres.Queue<WakeUp>(QUEUE, { connection, defaultJobOptions });
  }
  return new Queue<WakeUp>(QUEUE, {
    connection: { url: redisUrl, maxRetriesPerRequest: 1, enableOfflineQueue: false },
    prefix: REDIS_PREFIX,
    defaultJobOptions,
  });
}

/**
 * The sending end. It connects when it is first used and again after a failure, because a BullMQ queue that is made
 * while Postgres is down never recovers.
 */
export function openPurchaseQueue(options: QueueOptions): PurchaseQueue {
  let opened: Promise<ReturnType<typeof newQueue>> | undefined;

  async function open() {
    const queue = newQueue(options);
    queue.on("error", (error) => options.onError?.(error));
    try {
      await within(WAKE_TIMEOUT_MS, "connecting to the queue", queue.waitUntilReady());
      return queue;
    } catch (error) {
      opened = undefined;
      void queue.close().catch(() => {});
      throw error;
    }
  }

  return {
    async wake(id) {
      opened ??= open();
      const queue = await opened;
      // The id of the job is the purchase's: a wake-up that is still waiting need not wait twice.
      await within(WAKE_TIMEOUT_MS, "waking the writer", queue.add("purchase", { id }, { jobId: id }));
    },
    async close() {
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
}

export type PurchaseWorkerOptions = QueueOptions & {
  /** Jobs at work at the same moment. */
  concurrency: number;
  /** Must be idempotent: a job may run twice. A rejection is reported to `onError`, and the job is not repeated. */
  handle: (id: string) => Promise<void>;
};

/** Starts the receiving end, not yet taking jobs: call `resume`. Rejects when the queue's server is away. */
export async function startPurchaseWorker(options: PurchaseWorkerOptions): Promise<PurchaseWorker> {
  const { databaseUrl, redisUrl, concurrency, handle, onError } = options;
  const run = (job: { data: WakeUp }) => handle(job.data.id);
  const settings = {
    concurrency,
    autorun: false,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    // A writer may crash any number of times over one purchase: that is no fault of the purchase.
    maxStalledCount: 1000,
  };
  const worker =
    redisUrl === undefined
      ? new onPostgres.Worker<WakeUp>(QUEUE, run, {
          ...settings,
          connection: postgresConnection(databaseUrl),
        })
      : new Worker<WakeUp>(QUEUE, run, {
          ...settings,
          connection: { url: redisUrl, maxRetriesPerRequest: null },
          prefix: REDIS_PREFIX,
        });
  worker.on("error", (error: Error) => onError?.(error));
  worker.on("failed", (_job: unknown, error: Error) => onError?.(error));
  try {
    await within(WAKE_TIMEOUT_MS, "connecting to the queue", worker.waitUntilReady());
  } catch (error) {
    void worker.close(true).catch(() => {});
    throw error;
  }

  let running = false;
  return {
    async pause() {
      await worker.pause(true);
    },
    resume() {
      if (running) return worker.resume();
      running = true;
      // It settles when the worker closes; what goes wrong on the way arrives as `error` events.
      void worker.run().catch((error: Error) => onError?.(error));
    },
    async close() {
      await worker.close();
    },
  };
}
