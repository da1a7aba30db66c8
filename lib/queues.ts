import {
  createPostgresBackend,
  type JobsOptions,
  type PostgresPoolConfig,
  Queue,
  Worker,
  withBackend,
} from "bullmq";
import pg from "pg";
import { createAtMost } from "./at-most.ts";
import { createBatcher } from "./batcher.ts";
import { within } from "./within.ts";

/**
 * The queues: BullMQ on Postgres, or on Redis where `REDIS_URL` names one. The truth is in Postgres either way, and a
 * job is only a wake-up that carries ids: losing every queue loses nothing. Wake-ups of the same moment share jobs, for
 * under load the queue would otherwise cost more than the work.
 */

/**
 * Each with ids of its own kind: purchases; subscriptions of webhooks, test calls and their chores; and on the testnet
 * `purchase-<id>` and `claim-<id>`.
 */
type QueueName = "purchases" | "webhooks" | "testnet";
type WakeUp = { ids: string[] };
/** What is to be woken, in how many ms. */
type Wanted = { id: string; delayMs: number };
/** Ids of one job: few enough that several writers share a burst. */
const JOB_IDS = 10;
/** Ids that are handed to the queue together. */
const ROUND_IDS = 500;

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

export type WebhookQueue = {
  /**
   * Wakes a writer for these deliveries, at once or in `delayMs`. It may come while an earlier wake-up for the same id is
   * at work, and is heard all the same. Rejects when the queue is away: the rows stand, and the writer finds them.
   */
  wake(id: string, delayMs?: number): Promise<void>;
  /** Sees to it that `id` is woken every `everyMs`, by one writer, also after the queue was emptied. Rejects like `wake`. */
  ensureEvery(id: string, everyMs: number): Promise<void>;
  close(): Promise<void>;
};

export type QueueWorker = {
  /** Takes no more jobs; those at work go on. */
  pause(): Promise<void>;
  resume(): void;
  /** Waits for the jobs at work, leaves the rest in the queue. */
  close(): Promise<void>;
};

/**
 * When a connection breaks during a statement, pg rejects the statement and also emits `error` on the client. BullMQ
 * listens on idle clients only, and an `error` event without a listener ends the process.
 */
class SurvivingClient extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
  }
}

/** Two connections for statements are as fast as ten; one more listens. */
const postgresConnection = (databaseUrl: string): PostgresPoolConfig => ({
  connectionString: databaseUrl,
  schema: "bullmq",
  migrate: true,
  max: 2,
  Client: SurvivingClient,
  connectionTimeoutMillis: WAKE_TIMEOUT_MS,
  // A crash of the server may lose the last wake-ups, as it may lose all of them: none waits for the disk.
  options: "-c synchronous_commit=off",
});

const tooLong = (what: string) => () => new Error(`${what} took longer than ${WAKE_TIMEOUT_MS} ms`);

function newQueue(name: QueueName, { databaseUrl, redisUrl }: QueueOptions) {
  const defaultJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };
  if (redisUrl === undefined) {
    const connection = postgresConnection(databaseUrl);
    return new onPostgres.Queue<WakeUp>(name, { connection, defaultJobOptions });
  }
  return new Queue<WakeUp>(name, {
    connection: { url: redisUrl, maxRetriesPerRequest: 1, enableOfflineQueue: false },
    prefix: REDIS_PREFIX,
    defaultJobOptions,
  });
}

type NewJob = { data: WakeUp; opts: JobsOptions };

/** The jobs of a round of wake-ups. Those that are to come at the same time share jobs. */
function jobsFor(round: readonly Wanted[], optionsOf: (ids: readonly string[]) => JobsOptions): NewJob[] {
  const byDelay = new Map<number, Set<string>>();
  for (const { id, delayMs } of round) {
    const ids = byDelay.get(delayMs) ?? new Set();
    byDelay.set(delayMs, ids.add(id));
  }
  return [...byDelay].flatMap(([delay, unique]) =>
    Array.from({ length: Math.ceil(unique.size / JOB_IDS) }, (_, n) => {
      const ids = [...unique].slice(n * JOB_IDS, (n + 1) * JOB_IDS);
      return { data: { ids }, opts: { ...optionsOf(ids), ...(delay > 0 ? { delay } : {}) } };
    }),
  );
}

/**
 * A sending end. It connects when it is first used and again after a failure, because a BullMQ queue that is made while
 * Postgres is down never recovers.
 */
function openQueue(
  name: QueueName,
  options: QueueOptions,
  optionsOf: (ids: readonly string[]) => JobsOptions,
): WebhookQueue {
  let opened: Promise<ReturnType<typeof newQueue>> | undefined;

  async function open() {
    const queue = newQueue(name, options);
    queue.on("error", (error) => options.onError?.(error));
    try {
      await within(WAKE_TIMEOUT_MS, queue.waitUntilReady(), tooLong("connecting to the queue"));
      return queue;
    } catch (error) {
      opened = undefined;
      void queue.close().catch(() => {});
      throw error;
    }
  }

  const wake = createBatcher(async (round: Wanted[]) => {
    opened ??= open();
    const queue = await opened;
    // Not `addBulk`: on Postgres it makes temporary tables, which cost more than all of these.
    const added = jobsFor(round, optionsOf).map(({ data, opts }) => queue.add(name, data, opts));
    await within(WAKE_TIMEOUT_MS, Promise.all(added), tooLong("waking the writer"));
  }, ROUND_IDS);

  return {
    wake: (id, delayMs = 0) => wake({ id, delayMs }),
    async ensureEvery(id, everyMs) {
      opened ??= open();
      const queue = await opened;
      const ensured = async () => {
        if (await queue.getJobScheduler(id)) return;
        await queue.upsertJobScheduler(id, { every: everyMs }, { name, data: { ids: [id] } });
      };
      await within(WAKE_TIMEOUT_MS, ensured(), tooLong("scheduling"));
    },
    async close() {
      const queue = await opened?.catch(() => undefined);
      await queue?.close();
    },
  };
}

export type TestnetQueue = {
  /** Wakes the writer for this purchase of the sandbox. Rejects when the queue is away: the row stands, and the writer finds it. */
  wakePurchase(id: string): Promise<void>;
  /** Wakes it for this claim to the faucet. Rejects likewise. */
  wakeClaim(id: string): Promise<void>;
  close(): Promise<void>;
};

/** Purchases: a job for one of them bears its id, so that a wake-up that is still waiting need not wait twice. */
export function openPurchaseQueue(options: QueueOptions): PurchaseQueue {
  const { wake, close } = openQueue("purchases", options, ([id, ...others]) =>
    id && others.length === 0 ? { jobId: id } : {},
  );
  return { wake: (id) => wake(id), close };
}

/** Webhooks: woken by the id of a subscription, by `test-<delivery id>`, or by the name of a chore. */
export const openWebhookQueue = (options: QueueOptions): WebhookQueue =>
  // A job that bore the subscription's id would swallow the wake-ups that come while it is at work.
  openQueue("webhooks", options, () => ({}));

const kinds = ["purchase", "claim"] as const;

/** What a job of the testnet's queue is for. */
export type TestnetWakeUp = { kind: (typeof kinds)[number]; id: string };

export function openTestnetQueue(options: QueueOptions): TestnetQueue {
  const { wake, close } = openQueue("testnet", options, () => ({}));
  return { wakePurchase: (id) => wake(`purchase-${id}`), wakeClaim: (id) => wake(`claim-${id}`), close };
}

export type WorkerOptions = QueueOptions & {
  /** Wake-ups at work at the same moment. */
  concurrency: number;
  /** Must be idempotent: a wake-up may come twice. A rejection is reported to `onError`, and nothing is repeated. */
  handle: (id: string) => Promise<void>;
};

/** Starts a receiving end, not yet taking jobs: call `resume`. Rejects when the queue's server is away. */
async function startWorker(name: QueueName, options: WorkerOptions): Promise<QueueWorker> {
  const { databaseUrl, redisUrl, concurrency, handle, onError } = options;
  const atMost = createAtMost(concurrency);
  async function run(job: { data: WakeUp }): Promise<void> {
    const results = await Promise.allSettled(job.data.ids.map((id) => atMost(() => handle(id))));
    for (const result of results) if (result.status === "rejected") throw result.reason;
  }
  const settings = {
    concurrency,
    autorun: false,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    // A writer may crash any number of times over one job: that is no fault of the job.
    maxStalledCount: 1000,
  };
  const worker =
    redisUrl === undefined
      ? new onPostgres.Worker<WakeUp>(name, run, {
          ...settings,
          connection: postgresConnection(databaseUrl),
        })
      : new Worker<WakeUp>(name, run, {
          ...settings,
          connection: { url: redisUrl, maxRetriesPerRequest: null },
          prefix: REDIS_PREFIX,
        });
  worker.on("error", (error: Error) => onError?.(error));
  worker.on("failed", (_job: unknown, error: Error) => onError?.(error));
  try {
    await within(WAKE_TIMEOUT_MS, worker.waitUntilReady(), tooLong("connecting to the queue"));
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

export const startPurchaseWorker = (options: WorkerOptions): Promise<QueueWorker> =>
  startWorker("purchases", options);

/** Receives the wake-ups of sandbox and faucet. */
export const startTestnetWorker = (
  options: Omit<WorkerOptions, "handle"> & { handle: (wakeUp: TestnetWakeUp) => Promise<void> },
): Promise<QueueWorker> =>
  startWorker("testnet", {
    ...options,
    async handle(job) {
      const kind = kinds.find((one) => job.startsWith(`${one}-`));
      if (kind) await options.handle({ kind, id: job.slice(kind.length + 1) });
    },
  });

/** What it is woken for must be noted and left: a job that lasts as long as a delivery would keep others waiting. */
export const startWebhookWorker = (options: WorkerOptions): Promise<QueueWorker> =>
  startWorker("webhooks", options);
