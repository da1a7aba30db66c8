import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { waitFor } from "../../lib/local/wait.ts";
import { createDispatcher, type Lane, type TurnEnd } from "../../workers/webhooks/dispatcher.ts";
import { createPlaces, createPlacesByKey, type Leave } from "../../workers/webhooks/places.ts";

/** A dispatcher whose turns end when the test says so. */
function held(concurrency: number) {
  const atWork = new Map<string, { lane: Lane; leave: Leave; end: (end: TurnEnd) => void }>();
  const turns: string[] = [];
  const dispatcher = createDispatcher({
    concurrency,
    turn: (id, lane, leave) =>
      new Promise((resolve) => {
        turns.push(id);
        atWork.set(id, {
          lane,
          leave,
          end(end) {
            atWork.delete(id);
            resolve(end);
          },
        });
      }),
  });
  const end = async (id: string, more: Partial<TurnEnd> = {}) => {
    atWork.get(id)?.end({ lane: "prompt", again: false, ...more });
    await sleep(5);
  };
  return { dispatcher, atWork, turns, end };
}

test("a subscription has one turn at a time, and another one when it was woken during its turn", async () => {
  const { dispatcher, turns, end } = held(8);
  for (let n = 0; n < 3; n += 1) dispatcher.wake("1");
  await sleep(5);
  expect(turns).toEqual(["1"]);
  dispatcher.wake("1");
  dispatcher.wake("1");
  await end("1");
  expect(turns).toEqual(["1", "1"]);
  await end("1", { again: true });
  expect(turns).toEqual(["1", "1", "1"]);
  await end("1");
  expect(turns).toHaveLength(3);
  expect(dispatcher.size).toBe(0);
});

test("laggards share a quarter of the places, and keep nobody else waiting", async () => {
  const { dispatcher, atWork, end } = held(8);
  const laggards = ["a", "b", "c", "d"];
  for (const id of laggards) dispatcher.lags(id);
  for (const id of laggards) dispatcher.wake(id);
  for (let n = 0; n < 7; n += 1) dispatcher.wake(String(n));
  await sleep(5);
  expect([...atWork.keys()].toSorted()).toEqual(["0", "1", "2", "3", "4", "5", "a", "b"]);
  await end("a", { lane: "laggard" });
  expect(atWork.has("c")).toBe(true);
  expect(atWork.has("6")).toBe(false);
  // Whoever delivers again is one like the others.
  await end("b", { again: true });
  await end("0");
  await end("1");
  expect(atWork.get("6")?.lane).toBe("prompt");
  expect(atWork.get("b")?.lane).toBe("prompt");
});

test("a turn that gives its place up makes room before it ends", async () => {
  const { dispatcher, atWork } = held(2);
  dispatcher.wake("1");
  dispatcher.wake("2");
  await sleep(5);
  expect([...atWork.keys()]).toEqual(["1"]);
  atWork.get("1")?.leave();
  await sleep(5);
  expect([...atWork.keys()]).toEqual(["1", "2"]);
});

test("a stop begins no turn any more and waits for those at work", async () => {
  const { dispatcher, atWork, turns, end } = held(2);
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
  expect(atWork.size).toBe(0);
  expect(turns).toEqual(["1"]);
  await createDispatcher({ concurrency: 1, turn: async () => ({ lane: "prompt", again: false }) }).stop();
});

test("places are handed on in the order in which they were asked for, and given back once", async () => {
  const places = createPlaces(1);
  const first = await places.enter();
  const order: number[] = [];
  const others = [1, 2, 3].map(async (n) => {
    const leave = await places.enter();
    order.push(n);
    leave();
    leave();
  });
  await sleep(5);
  expect(order).toEqual([]);
  first();
  first();
  await Promise.all(others);
  expect(order).toEqual([1, 2, 3]);
  expect(places.idle).toBe(true);
});

test("places by key are each key's own", async () => {
  const places = createPlacesByKey(1);
  const leave = await places.enter("a");
  await places.enter("b");
  let second = false;
  const waiting = places.enter("a").then(() => {
    second = true;
  });
  await sleep(5);
  expect(second).toBe(false);
  leave();
  await waitFor({ what: "the place", probe: () => (second ? true : undefined), timeoutMs: 5000 });
  await waiting;
});
