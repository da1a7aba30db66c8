/** The back ends of the queues, and a worker that records its wake-ups. */
import { randomUUID } from "node:crypto";
import { Redis } from "ioredis";
import { connect } from "../../../lib/db/connect.ts";
import type { PurchaseQueue } from "../../../lib/queues/queue.ts";
import { type QueueWorker, startPurchaseWorker } from "../../../lib/queues/worker.ts";
import { waitFor } from "../../../scripts/local/wait.ts";
import { atEnd } from "../../support/cleanup.ts";
import { freshDatabase } from "../../support/database.ts";
import { freshRedis } from "../../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../../support/tcp-proxy.ts";

export type Backend = {
  databaseUrl: string;
  redisUrl: string | undefined;
  proxy: TcpProxy;
  /** Deletes every queue's jobs. */
  empty: () => Promise<void>;
};

export async function onPostgres(): Promise<Backend> {
  const proxy = await startTcpProxy(await freshDatabase());
  const empty = async () => {
    const { sql, close } = connect(proxy.url, { name: "test" });
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = 'bullmq' and tablename not like '%migration%'`;
    // A running worker locks the same tables in another order: Postgres may end this statement as a deadlock.
    const truncated = () =>
      sql.unsafe(`truncate ${tables.map(({ name }) => name).join(", ")}`).then(() => true);
    await waitFor({ what: "the queue to be emptied", probe: truncated });
    await close();
  };
  return { databaseUrl: proxy.url, redisUrl: undefined, proxy, empty };
}

export async function onRedis(): Promise<Backend> {
  const { url } = await freshRedis();
  const proxy = await startTcpProxy(url);
  const empty = async () => {
    const redis = new Redis(url);
    await redis.flushall();
    redis.disconnect();
  };
  return { databaseUrl: "postgres://nobody@127.0.0.1:1/none", redisUrl: proxy.url, proxy, empty };
}

/** Starts a worker, paused, that records the ids it handles; `work` is done for each of them. */
export async function recordingWorker(
  backend: Backend,
  options: {
    concurrency?: number;
    work?: (id: string) => Promise<void>;
    start?: typeof startPurchaseWorker;
    /** How long it is tried again to connect, as the writer does; 0: once. */
    connectMs?: number;
  } = {},
) {
  const handled: string[] = [];
  const errors: string[] = [];
  const { start = startPurchaseWorker } = options;
  const worker: QueueWorker = await waitFor({
    what: "the worker to connect",
    timeoutMs: options.connectMs,
    probe: () =>
      start({
        ...backend,
        concurrency: options.concurrency ?? 10,
        handle: async (id) => {
          handled.push(id);
          await options.work?.(id);
        },
        onError: (error) => errors.push(error.message),
      }),
  });
  let closed = false;
  const close = async () => {
    if (!closed) await worker.close();
    closed = true;
  };
  atEnd(close);
  const untilHandled = (id: string, times = 1) =>
    waitFor({
      what: `a wake-up for ${id}`,
      probe: () => (handled.filter((one) => one === id).length >= times ? true : undefined),
      // After an outage a worker's connections end one after the other, each by a time limit of its own.
      intervalMs: 10,
    });
  return { worker, handled, errors, untilHandled, close };
}

/** Wakes for a new id and waits until it is handled. The queue is ordered: all earlier wake-ups have then arrived. */
export async function handleLast(
  queue: PurchaseQueue,
  untilHandled: (id: string) => Promise<unknown>,
): Promise<string> {
  const id = randomUUID();
  await queue.wake(id);
  await untilHandled(id);
  return id;
}
