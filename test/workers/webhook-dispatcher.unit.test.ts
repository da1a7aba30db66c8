import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createDispatcher, HOST_PLACES, type Lane, type TurnEnd } from "../../workers/webhooks/dispatcher.ts";
import { createPlaces, type Place } from "../../workers/webhooks/places.ts";

const fail = (error: unknown) => {
  throw error;
};

/** A dispatcher whose turns end when the test says so. */
function held(concurrency: number, hostOf = async (_id: string): Promise<string | undefined> => "one") {
  const atWork = new Map<string, { lane: Lane; place: Place; end: (end: TurnEnd) => void }>();
  const turns: string[] = [];
  const dispatcher = createDispatcher({
    concurrency,
    hostOf,
    onError: fail,
    turn: (id, lane, place) =>
      new Promise((resolve) => {
        turns.push(id);
        atWork.set(id, {
          lane,
          place,
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

test("a turn that steps aside makes room before it ends", async () => {
  const { dispatcher, atWork } = held(2);
  dispatcher.wake("1");
  dispatcher.wake("2");
  await sleep(5);
  expect([...atWork.keys()]).toEqual(["1"]);
  atWork.get("1")?.place.stepAside();
  await sleep(5);
  expect([...atWork.keys()]).toEqual(["1", "2"]);
});

test("whoever has had its turn and wants another goes behind those that wait", async () => {
  const { dispatcher, turns, end } = held(2);
  for (const id of ["1", "2", "3"]) dispatcher.wake(id);
  await sleep(5);
  for (const id of ["1", "2", "3"]) await end(id, { again: true });
  await end("1");
  expect(turns).toEqual(["1", "2", "3", "1", "2"]);
});

test("a subscription that waits for a place at its host keeps no other host waiting", async () => {
  const { dispatcher, atWork } = held(800, async (id) => (id === "other" ? "b" : "a"));
  for (let n = 0; n < 700; n += 1) dispatcher.wake(String(n));
  dispatcher.wake("other");
  await sleep(50);
  expect(atWork.size).toBe(HOST_PLACES.prompt + 1);
  expect(atWork.has("other")).toBe(true);
});

test("one that is gone, or whose host nobody can tell now, has no turn and can be woken again", async () => {
  let host: string | undefined;
  const { dispatcher, turns } = held(2, async () => host);
  dispatcher.wake("1");
  await sleep(5);
  expect(dispatcher.size).toBe(0);
  host = "one";
  dispatcher.wake("1");
  await sleep(5);
  expect(turns).toEqual(["1"]);

  const errors: unknown[] = [];
  const failing = createDispatcher({
    concurrency: 1,
    hostOf: () => Promise.reject(new Error("away")),
    onError: (error) => errors.push(error),
    turn: async () => ({ lane: "prompt", again: false }),
  });
  failing.wake("1");
  await sleep(5);
  expect(errors).toEqual([new Error("away")]);
  await failing.stop();
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
  await held(1).dispatcher.stop();
});

test("places go to whoever waits, key by key, and are given back once", async () => {
  const places = createPlaces({ total: 1, ofKey: 1, aside: 0 });
  const first = await places.enter("a");
  const order: string[] = [];
  const others = ["a1", "a2", "a3", "b1", "c1"].map(async (name) => {
    const place = await places.enter(name.slice(0, 1));
    order.push(name);
    place.leave();
    place.leave();
  });
  await sleep(5);
  expect(order).toEqual([]);
  first.leave();
  first.leave();
  await Promise.all(others);
  expect(order).toEqual(["b1", "c1", "a1", "a2", "a3"]);
  expect(places.idle).toBe(true);
});

test("a key has so many places, and so many have stepped aside from them", async () => {
  const places = createPlaces({ total: 4, ofKey: 1, aside: 2 });
  const inside: Place[] = [];
  for (let n = 0; n < 5; n += 1) void places.enter("a").then((place) => inside.push(place));
  const others = await Promise.all(["b", "c", "d"].map((key) => places.enter(key)));
  for (const count of [1, 2, 3, 3]) {
    await sleep(5);
    expect(inside).toHaveLength(count);
    inside.at(-1)?.stepAside();
  }
  // One that has stepped aside and ends lets another step aside.
  inside[0]?.leave();
  inside.at(-1)?.stepAside();
  await sleep(5);
  expect(inside).toHaveLength(4);
  inside.at(-1)?.leave();
  await sleep(5);
  for (const place of [...inside, ...others]) place.leave();
  expect(places.idle).toBe(true);
});
