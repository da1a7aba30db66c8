/** One contract, held by both back ends of the queue. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { MIGRATION_ADVISORY_LOCK_KEY } from "bullmq";
import { Redis } from "ioredis";
import { beforeAll, describe, expect, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import {
  openPurchaseQueue,
  openWebhookQueue,
  type PurchaseQueue,
  type QueueWorker,
  startPurchaseWorker,
  startWebhookWorker,
  type WebhookQueue,
} from "../../lib/queues.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { untilLockWanted } from "../api/support/webhook-desk.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest } from "../support/database.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startTcpProxy, type TcpProxy } from "../support/tcp-proxy.ts";

type Backend = {
  databaseUrl: string;
  redisUrl: string | undefined;
  proxy: TcpProxy;
  /** Loses every queue. */
  empty: () => Promise<void>;
};

/** A worker that notes what it was woken for. */
async function listener(
  backend: Backend,
  options: {
    concurrency?: number;
    work?: (id: string) => Promise<void>;
    start?: typeof startPurchaseWorker;
  } = {},
) {
  const woken: string[] = [];
  const errors: string[] = [];
  const { start = startPurchaseWorker } = options;
  const worker = await start({
    ...backend,
    concurrency: options.concurrency ?? 10,
    handle: async (id) => {
      woken.push(id);
      await options.work?.(id);
    },
    onError: (error) => errors.push(error.message),
  });
  let closed = false;
  const close = async () => {
    if (!closed) await worker.close();
    closed = true;
  };
  atEnd(close);
  const wokenFor = (id: string, times = 1) =>
    waitFor({
      what: `a wake-up for ${id}`,
      probe: () => (woken.filter((one) => one === id).length >= times ? true : undefined),
      timeoutMs: 60_000,
      intervalMs: 10,
    });
  return { worker: worker satisfies QueueWorker, woken, errors, wokenFor, close };
}

function queueOf(backend: Backend): PurchaseQueue {
  const queue = openPurchaseQueue(backend);
  atEnd(() => queue.close());
  return queue;
}

function contract(start: () => Promise<Backend>): void {
  let backend: Backend;
  let queue: PurchaseQueue;

  beforeAll(async () => {
    backend = await start();
    queue = queueOf(backend);
  });

  /** Wakes for something new and waits for it: the queue keeps the order, so what was to come before it has come. */
  async function behindAll(wokenFor: (id: string) => Promise<unknown>): Promise<string> {
    const id = randomUUID();
    await queue.wake(id);
    await wokenFor(id);
    return id;
  }

  test("a wake-up reaches a worker, once", async () => {
    const { worker, woken, wokenFor, close } = await listener(backend);
    worker.resume();
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await Promise.all(ids.map((id) => wokenFor(id)));
    const last = await behindAll(wokenFor);
    expect(woken.toSorted()).toEqual([...ids, last].toSorted());
    await close();
  });

  test("what waits already is not queued twice; what was done can be woken again", async () => {
    const { worker, woken, wokenFor, close } = await listener(backend);
    const id = randomUUID();
    await Promise.all([queue.wake(id), queue.wake(id), queue.wake(id)]);
    worker.resume();
    await wokenFor(id);
    const last = await behindAll(wokenFor);
    expect(woken).toEqual([id, last]);
    await queue.wake(id);
    await wokenFor(id, 2);
    await close();
  });

  test("a handler that fails is reported, not repeated, and can be woken again", async () => {
    let fail = true;
    const { worker, woken, errors, wokenFor, close } = await listener(backend, {
      work: async () => {
        if (fail) throw new Error("no luck");
      },
    });
    worker.resume();
    const id = randomUUID();
    await queue.wake(id);
    await wokenFor(id);
    await expect.poll(() => errors).toContain("no luck");
    fail = false;
    const last = await behindAll(wokenFor);
    expect(woken).toEqual([id, last]);
    await queue.wake(id);
    await wokenFor(id, 2);
    await close();
  });

  test("no more jobs are at work at once than allowed", async () => {
    let atWork = 0;
    let most = 0;
    const { worker, wokenFor, close } = await listener(backend, {
      concurrency: 3,
      work: async () => {
        atWork += 1;
        most = Math.max(most, atWork);
        await sleep(30);
        atWork -= 1;
      },
    });
    worker.resume();
    const ids = Array.from({ length: 12 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await Promise.all(ids.map((id) => wokenFor(id)));
    expect(most).toBe(3);
    await close();
  });

  test("closing waits for the job at work and leaves the rest to the next worker", async () => {
    const done: string[] = [];
    let close = () => {};
    const closing = new Promise<void>((resolve) => {
      close = resolve;
    });
    const first = await listener(backend, {
      concurrency: 1,
      // It goes on for a while once the worker is told to close.
      work: async (id) => {
        await closing;
        await sleep(300);
        done.push(id);
      },
    });
    const ids = [randomUUID(), randomUUID(), randomUUID()];
    for (const id of ids) await queue.wake(id);
    first.worker.resume();
    await waitFor({
      what: "a job",
      probe: () => (first.woken.length > 0 ? true : undefined),
      timeoutMs: 60_000,
    });
    const closed = first.close();
    close();
    await closed;
    expect(done).toEqual(first.woken);
    expect(done.length).toBeLessThan(3);
    const second = await listener(backend);
    second.worker.resume();
    const rest = ids.filter((id) => !done.includes(id));
    await Promise.all(rest.map((id) => second.wokenFor(id)));
    await second.close();
  });

  test("two workers share the jobs, each done once", async () => {
    const woken: string[][] = [];
    const both = async () => {
      await waitFor({
        what: "both workers to have had something",
        probe: () => (woken.every((ids) => ids.length > 0) ? true : undefined),
        timeoutMs: 60_000,
        intervalMs: 10,
      });
    };
    const slow = { concurrency: 2, work: both };
    const [one, other] = [await listener(backend, slow), await listener(backend, slow)];
    woken.push(one.woken, other.woken);
    one.worker.resume();
    other.worker.resume();
    const ids = Array.from({ length: 30 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await waitFor({
      what: "all jobs",
      probe: () => (one.woken.length + other.woken.length >= ids.length ? true : undefined),
      timeoutMs: 60_000,
    });
    expect([...one.woken, ...other.woken].toSorted()).toEqual(ids.toSorted());
    expect(Math.min(one.woken.length, other.woken.length)).toBeGreaterThan(0);
    await Promise.all([one.close(), other.close()]);
  });

  test("while the server is away waking fails within seconds; both ends come back by themselves", async () => {
    const { worker, wokenFor, close } = await listener(backend);
    worker.resume();
    const early = openPurchaseQueue(backend);
    atEnd(() => early.close());
    await backend.proxy.cut();
    const started = Date.now();
    await expect(queue.wake(randomUUID())).rejects.toThrow();
    // One that is used for the first time while the server is away recovers like one that had worked before.
    await expect(early.wake(randomUUID())).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(20_000);
    await backend.proxy.mend();
    for (const end of [queue, early]) {
      const id = randomUUID();
      await waitFor({
        what: "waking to work again",
        probe: () => end.wake(id).then(() => true as const),
        timeoutMs: 60_000,
      });
      await wokenFor(id);
    }
    await close();
  });
}

/** What the queue of webhooks promises beside that. */
function webhookContract(start: () => Promise<Backend>): void {
  let backend: Backend;
  let queue: WebhookQueue;

  beforeAll(async () => {
    backend = await start();
    queue = openWebhookQueue(backend);
    atEnd(() => queue.close());
  });

  const webhookListener = (work?: (id: string) => Promise<void>) =>
    listener(backend, { start: startWebhookWorker, ...(work ? { work } : {}) });

  test("a wake-up that comes while the same id is at work is heard", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let first = true;
    const { worker, wokenFor, close } = await webhookListener(async () => {
      if (!first) return;
      first = false;
      await held;
    });
    worker.resume();
    await queue.wake("17");
    await wokenFor("17");
    await queue.wake("17");
    await wokenFor("17", 2);
    release();
    await close();
  });

  test("a wake-up for later comes when its time has come, and those for now do not wait for it", async () => {
    const { worker, woken, wokenFor, close } = await webhookListener();
    worker.resume();
    const began = Date.now();
    await Promise.all([queue.wake("1", 1500), queue.wake("2", 1500), queue.wake("3")]);
    await wokenFor("3");
    expect(woken).toEqual(["3"]);
    await Promise.all([wokenFor("1"), wokenFor("2")]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(1400);
    await close();
  });

  test("purchases and webhooks do not hear of each other", async () => {
    const purchases = queueOf(backend);
    const [one, other] = [await listener(backend), await webhookListener()];
    one.worker.resume();
    other.worker.resume();
    await Promise.all([purchases.wake("purchase"), queue.wake("webhook")]);
    await Promise.all([one.wokenFor("purchase"), other.wokenFor("webhook")]);
    // What comes behind them shows that nothing else was on its way.
    await Promise.all([purchases.wake("purchase 2"), queue.wake("webhook 2")]);
    await Promise.all([one.wokenFor("purchase 2"), other.wokenFor("webhook 2")]);
    expect([one.woken, other.woken]).toEqual([
      ["purchase", "purchase 2"],
      ["webhook", "webhook 2"],
    ]);
    await Promise.all([one.close(), other.close()]);
  });

  test("a chore comes again and again to one worker, however often it was asked for", async () => {
    const came: number[] = [];
    const note = async (id: string) => void (id === "chore" && came.push(Date.now()));
    const both = [await webhookListener(note), await webhookListener(note)];
    for (const { worker } of both) worker.resume();
    await Promise.all([queue.ensureEvery("chore", 400), queue.ensureEvery("chore", 400)]);
    await queue.ensureEvery("chore", 400);
    await waitFor({
      what: "the chore",
      probe: () => (came.length >= 9 ? true : undefined),
      timeoutMs: 60_000,
    });
    // Once every 400 ms; if each worker, or each who asked, had one of its own, they came at least twice as fast.
    const [third = 0, ninth = 0] = [came[2], came[8]];
    expect(ninth - third).toBeGreaterThan(6 * 400 * 0.6);
    await Promise.all(both.map(({ close }) => close()));
  });

  test("a chore is there again after the queue was emptied", async () => {
    const { worker, woken, wokenFor, close } = await webhookListener();
    worker.resume();
    await queue.ensureEvery("again", 300);
    await wokenFor("again");
    await backend.empty();
    const before = woken.length;
    await queue.ensureEvery("again", 300);
    // One of them may have been on its way when the queue was emptied.
    await wokenFor("again", before + 3);
    await close();
  });
}

test("a Postgres that is lost while a worker connects fails that attempt, and does not end the process", async () => {
  const databaseUrl = await freshDatabase();
  const proxy = await startTcpProxy(databaseUrl);
  const { sql, close } = connect(databaseUrl, { name: "test", max: 2 });
  atEnd(close);
  await sql.begin(async (tx) => {
    await mayRest(tx);
    // BullMQ makes its tables under this lock.
    await tx`select pg_advisory_xact_lock(${MIGRATION_ADVISORY_LOCK_KEY}::int, hashtext('bullmq'))`;
    const connecting = listener({
      databaseUrl: proxy.url,
      redisUrl: undefined,
      proxy,
      empty: async () => {},
    });
    const failed = expect(connecting).rejects.toThrow();
    await untilLockWanted(sql);
    await proxy.cut();
    await failed;
  });
});

async function onPostgres(): Promise<Backend> {
  const proxy = await startTcpProxy(await freshDatabase());
  const empty = async () => {
    const { sql, close } = connect(proxy.url, { name: "test" });
    const tables = await sql<{ name: string }[]>`
      select format('%I.%I', schemaname, tablename) as name from pg_tables
      where schemaname = 'bullmq' and tablename not like '%migration%'`;
    await sql.unsafe(`truncate ${tables.map(({ name }) => name).join(", ")}`);
    await close();
  };
  return { databaseUrl: proxy.url, redisUrl: undefined, proxy, empty };
}

async function onRedis(): Promise<Backend> {
  const { url } = await freshRedis();
  const proxy = await startTcpProxy(url);
  const empty = async () => {
    const redis = new Redis(url);
    await redis.flushall();
    redis.disconnect();
  };
  return { databaseUrl: "postgres://nobody@127.0.0.1:1/none", redisUrl: proxy.url, proxy, empty };
}

describe("the queue on Postgres", () => contract(onPostgres));
describe("the queue of webhooks on Postgres", () => webhookContract(onPostgres));
describeWithRedis("the queue on Redis", () => contract(onRedis));
describeWithRedis("the queue of webhooks on Redis", () => webhookContract(onRedis));
