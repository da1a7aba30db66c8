/** The queue of purchases: the same tests for Postgres and Redis. */
import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { beforeAll, describe, expect, test } from "vitest";
import { openPurchaseQueue, type PurchaseQueue } from "../../lib/queues/queue.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type Backend, handleLast, onPostgres, onRedis, recordingWorker } from "./support/queue-backends.ts";

function purchaseQueueTests(start: () => Promise<Backend>): void {
  let backend: Backend;
  let queue: PurchaseQueue;

  beforeAll(async () => {
    backend = await start();
    queue = openPurchaseQueue(backend);
    atEnd(() => queue.close());
  });

  test("a wake-up reaches a worker, once", async () => {
    const { worker, handled, untilHandled, close } = await recordingWorker(backend);
    worker.resume();
    const ids = Array.from({ length: 20 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await Promise.all(ids.map((id) => untilHandled(id)));
    const last = await handleLast(queue, untilHandled);
    expect(handled.toSorted()).toEqual([...ids, last].toSorted());
    await close();
  });

  test("an id that waits in the queue is not queued twice; after it was handled it can be queued again", async () => {
    const { worker, handled, untilHandled, close } = await recordingWorker(backend);
    const id = randomUUID();
    await Promise.all([queue.wake(id), queue.wake(id), queue.wake(id)]);
    worker.resume();
    await untilHandled(id);
    const last = await handleLast(queue, untilHandled);
    expect(handled).toEqual([id, last]);
    await queue.wake(id);
    await untilHandled(id, 2);
    await close();
  });

  test("a handler's error is reported and not retried, and the id can be queued again", async () => {
    let fail = true;
    const { worker, handled, errors, untilHandled, close } = await recordingWorker(backend, {
      work: async () => {
        if (fail) throw new Error("no luck");
      },
    });
    worker.resume();
    const id = randomUUID();
    await queue.wake(id);
    await untilHandled(id);
    await expect.poll(() => errors).toContain("no luck");
    fail = false;
    const last = await handleLast(queue, untilHandled);
    expect(handled).toEqual([id, last]);
    await queue.wake(id);
    await untilHandled(id, 2);
    await close();
  });

  test("no more ids are handled at the same time than the concurrency limit", async () => {
    let running = 0;
    let most = 0;
    const { worker, untilHandled, close } = await recordingWorker(backend, {
      concurrency: 3,
      work: async () => {
        running += 1;
        most = Math.max(most, running);
        await sleep(30);
        running -= 1;
      },
    });
    worker.resume();
    const ids = Array.from({ length: 12 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await Promise.all(ids.map((id) => untilHandled(id)));
    expect(most).toBe(3);
    await close();
  });

  test("closing waits for the running job and leaves the rest to the next worker", async () => {
    const done: string[] = [];
    let beginClosing = () => {};
    const closing = new Promise<void>((resolve) => {
      beginClosing = resolve;
    });
    const first = await recordingWorker(backend, {
      concurrency: 1,
      // The job still runs when the worker begins to close.
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
      probe: () => (first.handled.length > 0 ? true : undefined),
    });
    const closed = first.close();
    beginClosing();
    await closed;
    expect(done).toEqual(first.handled);
    expect(done.length).toBeLessThan(3);
    const second = await recordingWorker(backend);
    second.worker.resume();
    const rest = ids.filter((id) => !done.includes(id));
    await Promise.all(rest.map((id) => second.untilHandled(id)));
    await second.close();
  });

  test("two workers share the jobs, and each job is done once", async () => {
    const handled: string[][] = [];
    const untilBothHaveJobs = async () => {
      await waitFor({
        what: "both workers to have a job",
        probe: () => (handled.every((ids) => ids.length > 0) ? true : undefined),
        intervalMs: 10,
      });
    };
    const slow = { concurrency: 2, work: untilBothHaveJobs };
    const [one, other] = [await recordingWorker(backend, slow), await recordingWorker(backend, slow)];
    handled.push(one.handled, other.handled);
    one.worker.resume();
    other.worker.resume();
    const ids = Array.from({ length: 30 }, () => randomUUID());
    await Promise.all(ids.map((id) => queue.wake(id)));
    await waitFor({
      what: "all jobs",
      probe: () => (one.handled.length + other.handled.length >= ids.length ? true : undefined),
    });
    expect([...one.handled, ...other.handled].toSorted()).toEqual(ids.toSorted());
    expect(Math.min(one.handled.length, other.handled.length)).toBeGreaterThan(0);
    await Promise.all([one.close(), other.close()]);
  });
}

describe("the queue of purchases on Postgres", () => purchaseQueueTests(onPostgres));
describeWithRedis("the queue of purchases on Redis", () => purchaseQueueTests(onRedis));
