/**
 * The queue of purchases while its server is away, on Postgres and Redis. The tests mostly wait for time limits, each with a
 * server of its own, so they run at the same time.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, test } from "vitest";
import { connect } from "../../lib/db/connect.ts";
import { openPurchaseQueue } from "../../lib/queues/queue.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase, mayRest, waitForLockWaiter } from "../support/database.ts";
import { describeWithRedis } from "../support/redis.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { type Backend, handleLast, onPostgres, onRedis, recordingWorker } from "./support/queue-backends.ts";

function outageTests(start: () => Promise<Backend>): void {
  async function open() {
    const backend = await start();
    const queue = openPurchaseQueue(backend);
    atEnd(() => queue.close());
    return { backend, queue };
  }

  test("a server that vanishes behind open connections: wake-ups are accepted and handled again", {
    timeout: 300_000,
  }, async () => {
    const { backend, queue } = await open();
    const { worker, untilHandled, close } = await recordingWorker(backend);
    worker.resume();
    await handleLast(queue, untilHandled);
    backend.proxy.vanish();
    const id = randomUUID();
    await waitFor({
      what: "a wake-up to be accepted again",
      probe: () => queue.wake(id).then(() => true as const),
    });
    await untilHandled(id);
    await close();
  });

  test("while the server is away a wake-up fails within seconds; queue and worker then reconnect by themselves", {
    timeout: 300_000,
  }, async ({ expect }) => {
    const { backend, queue } = await open();
    const { worker, untilHandled, close } = await recordingWorker(backend);
    worker.resume();
    await handleLast(queue, untilHandled);
    const unused = openPurchaseQueue(backend);
    atEnd(() => unused.close());
    await backend.proxy.cut();
    const started = Date.now();
    await expect(queue.wake(randomUUID())).rejects.toThrow();
    // A queue whose first use fails recovers like one that has worked before.
    await expect(unused.wake(randomUUID())).rejects.toThrow();
    expect(Date.now() - started).toBeLessThan(20_000);
    await backend.proxy.mend();
    for (const sender of [queue, unused]) {
      const id = randomUUID();
      await waitFor({
        what: "a wake-up to be accepted again",
        probe: () => sender.wake(id).then(() => true as const),
      });
      await untilHandled(id);
    }
    await close();
  });
}

/** The end of an extended query in Postgres' protocol. */
const SYNC = Buffer.from([0x53, 0, 0, 0, 4]);

function postgresOutageTests(): void {
  test("when Postgres goes away while a worker connects, that attempt fails and the process survives", async ({
    expect,
  }) => {
    const databaseUrl = await freshDatabase();
    const proxy = await startTcpProxy(databaseUrl);
    const { sql, close } = connect(databaseUrl, { name: "test", max: 2 });
    atEnd(close);
    await sql.begin(async (tx) => {
      await mayRest(tx);
      // The first that BullMQ reads on a new connection.
      await tx`lock table bullmq.migration`;
      const connecting = recordingWorker(
        { databaseUrl: proxy.url, redisUrl: undefined, proxy, empty: async () => {} },
        { connectMs: 0 },
      );
      const failed = expect(connecting).rejects.toThrow();
      await waitForLockWaiter(sql, "relation");
      await proxy.cut();
      await failed;
    });
  });

  test("while something accepts and closes the connections to Postgres, a worker asks for jobs a few times a second", async ({
    expect,
  }) => {
    const backend = await onPostgres();
    const { worker, untilHandled } = await recordingWorker(backend);
    await backend.proxy.cut();
    let connections = 0;
    const closer = createServer((client) => {
      connections += 1;
      client.resume().end();
    });
    await once(closer.listen(Number(new URL(backend.databaseUrl).port), "127.0.0.1"), "listening");
    worker.resume();
    await expect.poll(() => connections).toBeGreaterThan(0);
    const before = connections;
    await sleep(3000);
    expect(connections - before).toBeLessThan(30);
    await new Promise((closed) => closer.close(closed));
    await backend.proxy.mend();
    const queue = openPurchaseQueue(backend);
    atEnd(() => queue.close());
    await handleLast(queue, untilHandled);
  });

  test("when Postgres vanishes as a worker begins to listen, the worker listens anew", async () => {
    const backend = await onPostgres();
    // The listening connection takes its name first, twice; a statement may come in pieces.
    let names = 0;
    backend.proxy.swallowAfter((sent) => {
      if (sent.includes("application_name', $1")) names += 1;
      return names === 2 && sent.subarray(-SYNC.length).equals(SYNC);
    });
    const { worker, untilHandled } = await recordingWorker(backend);
    worker.resume();
    const queue = openPurchaseQueue(backend);
    atEnd(() => queue.close());
    // The first may be handled before the worker listens.
    for (const id of [randomUUID(), randomUUID()]) {
      await queue.wake(id);
      await untilHandled(id);
    }
  });
}

describe.concurrent("the queue of purchases in an outage", () => {
  describe("of Postgres", () => {
    outageTests(onPostgres);
    postgresOutageTests();
  });
  describeWithRedis("of Redis", () => outageTests(onRedis));
});
