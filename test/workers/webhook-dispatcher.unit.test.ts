import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createFairLimit, type Slot } from "../../workers/webhooks/concurrency-limit.ts";
import {
  type BatchEnd,
  createDispatcher,
  HOST_CONCURRENCY,
  type Lane,
} from "../../workers/webhooks/dispatcher.ts";

const fail = (error: unknown) => {
  throw error;
};

/** A dispatcher with batches that the test controls. */
function controlled(concurrency: number, hostOf = async (_id: string): Promise<string | undefined> => "one") {
  const running = new Map<string, { lane: Lane; slot: Slot; end: (end: BatchEnd) => void }>();
  const batches: string[] = [];
  const dispatcher = createDispatcher({
    concurrency,
    hostOf,
    onError: fail,
    deliver: (id, lane, slot) =>
      new Promise((resolve) => {
        batches.push(id);
        running.set(id, {
          lane,
          slot,
          end(end) {
            running.delete(id);
            resolve(end);
          },
        });
      }),
  });
  const end = async (id: string, more: Partial<BatchEnd> = {}) => {
    running.get(id)?.end({ lane: "regular", again: false, ...more });
    await sleep(5);
  };
  return { dispatcher, running, batches, end };
}

test("a subscription has one batch at a time, and another one when woken during its batch", async () => {
  const { dispatcher, batches, end } = controlled(8);
  for (let n = 0; n < 3; n += 1) dispatcher.wake("1");
  await sleep(5);
  expect(batches).toEqual(["1"]);
  dispatcher.wake("1");
  dispatcher.wake("1");
  await end("1");
  expect(batches).toEqual(["1", "1"]);
  await end("1", { again: true });
  expect(batches).toEqual(["1", "1", "1"]);
  await end("1");
  expect(batches).toHaveLength(3);
  expect(dispatcher.size).toBe(0);
});

test("slow subscriptions share a quarter of the slots, and do not delay others", async () => {
  const { dispatcher, running, end } = controlled(8);
  const slow = ["a", "b", "c", "d"];
  for (const id of slow) dispatcher.markSlow(id);
  for (const id of slow) dispatcher.wake(id);
  for (let n = 0; n < 7; n += 1) dispatcher.wake(String(n));
  await sleep(5);
  expect([...running.keys()].toSorted()).toEqual(["0", "1", "2", "3", "4", "5", "a", "b"]);
  await end("a", { lane: "slow" });
  expect(running.has("c")).toBe(true);
  expect(running.has("6")).toBe(false);
  // A successful batch moves the subscription to the regular lane.
  await end("b", { again: true });
  await end("0");
  await end("1");
  expect(running.get("6")?.lane).toBe("regular");
  expect(running.get("b")?.lane).toBe("regular");
});

test("a batch that releases its slot early lets another one start", async () => {
  const { dispatcher, running } = controlled(2);
  dispatcher.wake("1");
  dispatcher.wake("2");
  await sleep(5);
  expect([...running.keys()]).toEqual(["1"]);
  running.get("1")?.slot.releaseEarly();
  await sleep(5);
  expect([...running.keys()]).toEqual(["1", "2"]);
});

test("a further batch of a subscription comes after the waiting ones", async () => {
  const { dispatcher, batches, end } = controlled(2);
  for (const id of ["1", "2", "3"]) dispatcher.wake(id);
  await sleep(5);
  for (const id of ["1", "2", "3"]) await end(id, { again: true });
  await end("1");
  expect(batches).toEqual(["1", "2", "3", "1", "2"]);
});

test("subscriptions that wait for their host's limit do not delay other hosts", async () => {
  const { dispatcher, running } = controlled(800, async (id) => (id === "other" ? "b" : "a"));
  for (let n = 0; n < 700; n += 1) dispatcher.wake(String(n));
  dispatcher.wake("other");
  await sleep(50);
  expect(running.size).toBe(HOST_CONCURRENCY.regular + 1);
  expect(running.has("other")).toBe(true);
});

test("a subscription without a known host has no batch, and can be woken again", async () => {
  let host: string | undefined;
  const { dispatcher, batches } = controlled(2, async () => host);
  dispatcher.wake("1");
  await sleep(5);
  expect(dispatcher.size).toBe(0);
  host = "one";
  dispatcher.wake("1");
  await sleep(5);
  expect(batches).toEqual(["1"]);

  const errors: unknown[] = [];
  const failing = createDispatcher({
    concurrency: 1,
    hostOf: () => Promise.reject(new Error("away")),
    onError: (error) => errors.push(error),
    deliver: async () => ({ lane: "regular", again: false }),
  });
  failing.wake("1");
  await sleep(5);
  expect(errors).toEqual([new Error("away")]);
  await failing.stop();
});

test("a stop starts no batch and waits for the running ones", async () => {
  const { dispatcher, running, batches, end } = controlled(2);
  for (const id of ["1", "2", "3"]) dispatcher.wake(id);
  await sleep(5);
  let stopped = false;
  const stopping = dispatcher.stop().then(() => {
    stopped = true;
  });
  dispatcher.wake("4");
  await sleep(20);
  expect(stopped).toBe(false);
  await end("1", { again: true });
  await stopping;
  expect(running.size).toBe(0);
  expect(batches).toEqual(["1"]);
  await controlled(1).dispatcher.stop();
});

test("the limit starts waiting work key by key, and ignores a second release", async () => {
  const limit = createFairLimit({ total: 1, perKey: 1, overtimePerSlot: 0 });
  const first = await limit.acquire("a");
  const order: string[] = [];
  const others = ["a1", "a2", "a3", "b1", "c1"].map(async (name) => {
    const slot = await limit.acquire(name.slice(0, 1));
    order.push(name);
    slot.release();
    slot.release();
  });
  await sleep(5);
  expect(order).toEqual([]);
  first.release();
  first.release();
  await Promise.all(others);
  expect(order).toEqual(["b1", "c1", "a1", "a2", "a3"]);
  expect(limit.idle).toBe(true);
});

test("a key has its own limits of slots and of early releases", async () => {
  const limit = createFairLimit({ total: 4, perKey: 1, overtimePerSlot: 2 });
  const started: Slot[] = [];
  for (let n = 0; n < 5; n += 1) void limit.acquire("a").then((slot) => started.push(slot));
  const others = await Promise.all(["b", "c", "d"].map((key) => limit.acquire(key)));
  for (const count of [1, 2, 3, 3]) {
    await sleep(5);
    expect(started).toHaveLength(count);
    started.at(-1)?.releaseEarly();
  }
  // When such work ends, another slot can be released early.
  started[0]?.release();
  started.at(-1)?.releaseEarly();
  await sleep(5);
  expect(started).toHaveLength(4);
  started.at(-1)?.release();
  await sleep(5);
  for (const slot of [...started, ...others]) slot.release();
  expect(limit.idle).toBe(true);
});
