import { setTimeout as sleep } from "node:timers/promises";
import {
  createPostgresBackend,
  type PostgresPoolConfig,
  Queue,
  runMigrations,
  Worker,
  withBackend,
} from "bullmq";
import pg from "pg";
import { connect } from "../db/connect.ts";
import { grantQueue } from "../db/grants.ts";
import { countSessions } from "../db/sessions.ts";
import { watchedSocket } from "../db/silent-server.ts";
import { within } from "../timeout.ts";

/**
 * The queues: BullMQ on Postgres, or on Redis where `REDIS_URL` is set. The ledger's tables in Postgres are the truth
 * in both cases: a job only wakes a worker and carries ids, so losing every queue loses nothing. Wake-ups of the same
 * moment share jobs, because under load the queue would otherwise cost more than the work.
 */

/**
 * The ids in a job depend on the queue. `purchases`: purchases. `webhooks`: subscriptions, `test-<delivery id>`, and
 * names of periodic tasks. `testnet`: `purchase-<id>` and `claim-<id>`.
 */
export type QueueName = "purchases" | "webhooks" | "testnet";
/** The content of a job. */
export type WakeUp = {
  ids: string[];
  /** By id, the `traceparent` of the request that it serves, where there was one. */
  traces?: Record<string, string>;
};

export type QueueOptions = {
  databaseUrl: string;
  redisUrl: string | undefined;
  /** Called when a connection breaks; BullMQ reconnects by itself. */
  onError?: (error: Error) => void;
};

/** How long a wake-up or a connection may take before the caller goes on without it, in ms. */
const TIMEOUT_MS = 3000;
/** As long as the login's, in ms; jobs are few. */
const STATEMENT_TIMEOUT_MS = 10_000;
/** The same for the creation of the queue's schema, which waits for another writer's. */
const MIGRATION_TIMEOUT_MS = 60_000;
/** A job of a writer that died is given to another writer after this time, in ms. */
const LOCK_MS = 10_000;
const STALLED_CHECK_MS = 5_000;
/** A connection to Redis ends when the server has sent nothing for this time, in ms. BullMQ's blocking calls are shorter. */
const REDIS_SILENT_MS = 15_000;
/** Before a worker asks for its next job again when Postgres gave no answer, in ms. */
const RETRY_MS = 500;
/** Keys in Redis begin with this prefix, so that several services can share one server. */
const REDIS_PREFIX = "cover";

/** The result of `work`; rejects when that takes too long. */
export const inTime = <T>(action: string, work: Promise<T>): Promise<T> =>
  within(TIMEOUT_MS, work, () => new Error(`${action} took longer than ${TIMEOUT_MS} ms`));

/**
 * BullMQ's worker asks for its next job again at once when Postgres refuses a session, as at its start, or closes a connection
 * that it has accepted: without this pause hundreds of times a second.
 */
const pausingBackend: typeof createPostgresBackend = (...options) => {
  const backend = createPostgresBackend(...options);
  const moveToActive = backend.moveToActive.bind(backend);
  return Object.assign(backend, {
    moveToActive: (...job: Parameters<typeof moveToActive>) =>
      moveToActive(...job).catch(async (error: unknown) => {
        await sleep(RETRY_MS);
        throw error;
      }),
  });
};

const onPostgres = withBackend(pausingBackend);

/**
 * When a connection breaks during a statement, pg rejects the statement and also emits `error` on the client. BullMQ
 * listens on idle clients only, and an `error` event without a listener ends the process.
 */
class ClientWithErrorListener extends pg.Client {
  constructor(config?: string | pg.ClientConfig) {
    super(config);
    this.on("error", () => {});
  }
}

const QUEUE_SCHEMA = "bullmq";

/**
 * Creates the queue's schema on Postgres or brings it up to date, for the api too, which may not. Idempotent; the writer calls
 * it at its start, after the service's own migrations.
 */
export async function migrateQueue(databaseUrl: string): Promise<void> {
  const client = new ClientWithErrorListener({
    connectionString: databaseUrl,
    connectionTimeoutMillis: TIMEOUT_MS,
    stream: () => watchedSocket(MIGRATION_TIMEOUT_MS),
  });
  try {
    await client.connect();
    await client.query(`set statement_timeout = ${MIGRATION_TIMEOUT_MS}`);
    await runMigrations(client, QUEUE_SCHEMA);
  } finally {
    await client.end();
  }
  const { sql, close } = connect(databaseUrl, { name: "migrate", max: 1 });
  await grantQueue(sql, QUEUE_SCHEMA).finally(close);
}

/** Two connections for statements are as fast as ten, and one serves the queues with little traffic. */
const poolSize = (name: QueueName) => (name === "purchases" ? 2 : 1);

/** Counts the sessions of a queue's sending or receiving side until the returned function is called; the latter listens too. */
export const countQueueSessions = (name: QueueName, { redisUrl }: QueueOptions, listens = false) =>
  countSessions(redisUrl === undefined ? poolSize(name) + Number(listens) : 0);

/** Options in the URL, also empty ones, keep BullMQ from sending its search path as a parameter, which poolers refuse. */
function withOptions(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  if (!url.searchParams.has("options")) url.searchParams.set("options", "");
  return url.href;
}

const postgresConnection = (name: QueueName, { databaseUrl }: QueueOptions): PostgresPoolConfig => ({
  connectionString: withOptions(databaseUrl),
  schema: QUEUE_SCHEMA,
  max: poolSize(name),
  Client: ClientWithErrorListener,
  connectionTimeoutMillis: TIMEOUT_MS,
  stream: () => watchedSocket(STATEMENT_TIMEOUT_MS),
  // A crash of the server may lose the last wake-ups, and the tables replace them: no job waits for the disk.
  onConnect: (client: pg.ClientBase) =>
    client.query(`set search_path = ${QUEUE_SCHEMA}; set synchronous_commit = off`),
});

/** The sending side of a queue. */
export function newQueue(name: QueueName, options: QueueOptions) {
  const { redisUrl } = options;
  const defaultJobOptions = { attempts: 1, removeOnComplete: true, removeOnFail: true };
  if (redisUrl === undefined) {
    const connection = postgresConnection(name, options);
    return new onPostgres.Queue<WakeUp>(name, { connection, defaultJobOptions });
  }
  return new Queue<WakeUp>(name, {
    connection: {
      url: redisUrl,
      maxRetriesPerRequest: 1,
      enableOfflineQueue: false,
      socketTimeout: REDIS_SILENT_MS,
    },
    prefix: REDIS_PREFIX,
    defaultJobOptions,
  });
}

/** The receiving side of a queue, not running yet; it runs up to `concurrency` jobs at the same time. */
export function newWorker(
  name: QueueName,
  run: (job: { data: WakeUp }) => Promise<void>,
  options: QueueOptions & { concurrency: number },
) {
  const { redisUrl, concurrency } = options;
  const settings = {
    concurrency,
    autorun: false,
    lockDuration: LOCK_MS,
    stalledInterval: STALLED_CHECK_MS,
    // A writer may crash any number of times while it has a job: the job is not at fault.
    maxStalledCount: 1000,
  };
  if (redisUrl === undefined) {
    const connection = postgresConnection(name, options);
    return new onPostgres.Worker<WakeUp>(name, run, { ...settings, connection });
  }
  const connection = { url: redisUrl, maxRetriesPerRequest: null, socketTimeout: REDIS_SILENT_MS };
  return new Worker<WakeUp>(name, run, { ...settings, connection, prefix: REDIS_PREFIX });
}
