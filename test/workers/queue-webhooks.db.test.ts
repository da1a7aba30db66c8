/** The queue of webhooks, beyond the tests of the queue of purchases: the same tests for Postgres and Redis. */
import { beforeAll, describe, expect, test } from "vitest";
import { openPurchaseQueue, openWebhookQueue, type WebhookQueue } from "../../lib/queues/queue.ts";
import { startWebhookWorker } from "../../lib/queues/worker.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { describeWithRedis } from "../support/redis.ts";
import { type Backend, onPostgres, onRedis, recordingWorker } from "./support/queue-backends.ts";

function webhookQueueTests(start: () => Promise<Backend>): void {
  let backend: Backend;
  let queue: WebhookQueue;

  beforeAll(async () => {
    backend = await start();
    queue = openWebhookQueue(backend);
    atEnd(() => queue.close());
  });

  const recordingWebhookWorker = (work?: (id: string) => Promise<void>) =>
    recordingWorker(backend, { start: startWebhookWorker, ...(work ? { work } : {}) });

  test("a wake-up for an id that is being handled is handled too", async () => {
    let release = () => {};
    const held = new Promise<void>((resolve) => {
      release = resolve;
    });
    let first = true;
    const { worker, untilHandled, close } = await recordingWebhookWorker(async () => {
      if (!first) return;
      first = false;
      await held;
    });
    worker.resume();
    await queue.wake("17");
    await untilHandled("17");
    await queue.wake("17");
    await untilHandled("17", 2);
    release();
    await close();
  });

  test("a delayed wake-up comes after its delay, and wake-ups without a delay do not wait for it", async () => {
    const { worker, handled, untilHandled, close } = await recordingWebhookWorker();
    worker.resume();
    const began = Date.now();
    await Promise.all([queue.wake("1", 1500), queue.wake("2", 1500), queue.wake("3")]);
    await untilHandled("3");
    expect(handled[0]).toBe("3");
    await Promise.all([untilHandled("1"), untilHandled("2")]);
    expect(Date.now() - began).toBeGreaterThanOrEqual(1400);
    await close();
  });

  test("workers of purchases and of webhooks get only their own queue's ids", async () => {
    const purchases = openPurchaseQueue(backend);
    atEnd(() => purchases.close());
    const [one, other] = [await recordingWorker(backend), await recordingWebhookWorker()];
    one.worker.resume();
    other.worker.resume();
    await Promise.all([purchases.wake("purchase"), queue.wake("webhook")]);
    await Promise.all([one.untilHandled("purchase"), other.untilHandled("webhook")]);
    // The queues are ordered: once these are handled, no earlier wake-up is left.
    await Promise.all([purchases.wake("purchase 2"), queue.wake("webhook 2")]);
    await Promise.all([one.untilHandled("purchase 2"), other.untilHandled("webhook 2")]);
    expect([one.handled, other.handled]).toEqual([
      ["purchase", "purchase 2"],
      ["webhook", "webhook 2"],
    ]);
    await Promise.all([one.close(), other.close()]);
  });

  test("a periodic task goes to one worker each time, however often it was requested", async () => {
    const times: number[] = [];
    const note = async (id: string) => void (id === "task" && times.push(Date.now()));
    const both = [await recordingWebhookWorker(note), await recordingWebhookWorker(note)];
    for (const { worker } of both) worker.resume();
    await Promise.all([queue.ensureEvery("task", 400), queue.ensureEvery("task", 400)]);
    await queue.ensureEvery("task", 400);
    await waitFor({
      what: "the task",
      probe: () => (times.length >= 9 ? true : undefined),
    });
    // One every 400 ms; with one per worker, or one per request, they would come at least twice as fast.
    const [third = 0, ninth = 0] = [times[2], times[8]];
    expect(ninth - third).toBeGreaterThan(6 * 400 * 0.6);
    await Promise.all(both.map(({ close }) => close()));
  });

  test("a periodic task comes back after the queue was emptied", async () => {
    const { worker, handled, untilHandled, close } = await recordingWebhookWorker();
    worker.resume();
    await queue.ensureEvery("again", 300);
    await untilHandled("again");
    await backend.empty();
    const before = handled.length;
    await queue.ensureEvery("again", 300);
    // One wake-up may have left the queue before it was emptied.
    await untilHandled("again", before + 3);
    await close();
  });
}

describe("the queue of webhooks on Postgres", () => webhookQueueTests(onPostgres));
describeWithRedis("the queue of webhooks on Redis", () => webhookQueueTests(onRedis));
