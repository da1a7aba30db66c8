import { setTimeout as sleep } from "node:timers/promises";
import { expect, onTestFinished, test, vi } from "vitest";
import { shareRead, shareReadBy, shareReadOrLast } from "../../lib/shared-read.ts";
import { within } from "../../lib/timeout.ts";

/** A read that counts its executions. */
function counted(work: (count: number) => Promise<number>) {
  let count = 0;
  return { reads: () => count, read: () => work(++count) };
}

test("concurrent calls share one read, and later calls use its result until it is too old", async () => {
  const { read, reads } = counted((n) => sleep(20, n));
  const shared = shareRead(10_000, read);
  expect(await Promise.all([shared(), shared(), shared()])).toEqual([1, 1, 1]);
  expect(await shared()).toBe(1);
  expect(reads()).toBe(1);
});

test("a result that is too old is read again", async () => {
  const { read } = counted(async (n) => n);
  const shared = shareRead(5, read);
  expect(await shared()).toBe(1);
  await sleep(10);
  expect(await shared()).toBe(2);
});

test("a read that takes longer than the result's lifetime is still shared", async () => {
  const { read } = counted((n) => sleep(30, n));
  const shared = shareRead(1, read);
  const first = shared();
  await sleep(10);
  expect(await Promise.all([first, shared()])).toEqual([1, 1]);
});

test("an error rejects all waiting calls, and the next call reads again", async () => {
  const { read } = counted(async (n) => {
    await sleep(5);
    if (n === 1) throw new Error("away");
    return n;
  });
  const shared = shareRead(10_000, read);
  const outcomes = await Promise.allSettled([shared(), shared()]);
  expect(outcomes.map((o) => o.status)).toEqual(["rejected", "rejected"]);
  expect(await shared()).toBe(2);
});

test("a failed read gives the last result as stale until a read succeeds; before the first one it rejects", async () => {
  const { read } = counted(async (n) => {
    if (n !== 2 && n !== 5) throw new Error("away");
    return n;
  });
  const shared = shareReadOrLast(0, read);
  await expect(shared()).rejects.toThrow("away");
  expect(await shared()).toEqual({ value: 2, stale: false });
  expect(await shared()).toEqual({ value: 2, stale: true });
  expect(await shared()).toEqual({ value: 2, stale: true });
  expect(await shared()).toEqual({ value: 5, stale: false });
});

test("a result that is not to be kept is shared by the waiting calls, and the next call reads again", async () => {
  const { read } = counted((n) => sleep(5, n));
  const shared = shareRead(10_000, read, { isKept: (n) => n > 1 });
  expect(await Promise.all([shared(), shared()])).toEqual([1, 1]);
  expect([await shared(), await shared()]).toEqual([2, 2]);
});

test("a result that is renewed ahead is there while the next read runs, and no longer than its lifetime", async () => {
  let finish: ((value: number) => void) | undefined;
  const { read, reads } = counted((n) =>
    n === 1 ? Promise.resolve(1) : new Promise((resolve) => (finish = resolve)),
  );
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const shared = shareRead(1000, read, { renewMs: 500 });
  expect(await shared()).toBe(1);
  now = 499;
  expect([await shared(), reads()]).toEqual([1, 1]);
  now = 500;
  expect([await shared(), await shared(), reads()]).toEqual([1, 1, 2]);
  now = 1000;
  const waiting = shared();
  finish?.(2);
  expect([await waiting, reads()]).toEqual([2, 2]);
});

test("a renewal that fails leaves the result until it is too old", async () => {
  const { read, reads } = counted(async (n) => {
    if (n === 2) throw new Error("away");
    return n;
  });
  let now = 0;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const shared = shareRead(1000, read, { renewMs: 500 });
  expect(await shared()).toBe(1);
  now = 600;
  expect([await shared(), reads()]).toEqual([1, 2]);
  expect([await shared(), reads()]).toEqual([1, 3]);
});

test("each key has its own read, also with more keys than are cached", async () => {
  const shared = shareReadBy(10_000, async (key: number) => key * 2);
  for (let key = 0; key < 1200; key += 1) expect(await shared(key)).toBe(key * 2);
  expect(await shared(3)).toBe(6);
});

test("work that ends in time gives its result, and work that takes longer rejects", async () => {
  const late = () => new Error("late");
  expect(await within(1000, Promise.resolve(1), late)).toBe(1);
  await expect(within(1000, Promise.reject(new Error("own")), late)).rejects.toThrow("own");
  await expect(within(5, sleep(200), late)).rejects.toThrow("late");
});

test("a query that is sent whenever it is awaited is sent once", async () => {
  let sent = 0;
  const query: PromiseLike<number> = {
    // biome-ignore lint/suspicious/noThenProperty: drizzle's queries are like this.
    then: (resolve, reject) => Promise.resolve(++sent).then(resolve, reject),
  };
  expect(await within(1000, query, () => new Error("late"))).toBe(1);
  expect(sent).toBe(1);
});
