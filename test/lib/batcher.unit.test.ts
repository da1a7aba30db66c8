import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createBatcher } from "../../lib/batcher.ts";

test("calls of the same tick share a round, and calls during a round share the next", async () => {
  const rounds: number[][] = [];
  const batch = createBatcher(async (items: number[]) => {
    rounds.push(items);
    await sleep(20);
    return items.length;
  }, 100);
  const first = [batch(1), batch(2), batch(3)];
  await sleep(5);
  const second = [batch(4), batch(5)];
  expect(await Promise.all([...first, ...second])).toEqual([3, 3, 3, 2, 2]);
  expect(rounds).toEqual([
    [1, 2, 3],
    [4, 5],
  ]);
});

test("a round has at most the given size, and rounds follow each other", async () => {
  let atWork = 0;
  let most = 0;
  const sizes: number[] = [];
  const batch = createBatcher(async (items: number[]) => {
    atWork += 1;
    most = Math.max(most, atWork);
    sizes.push(items.length);
    await sleep(1);
    atWork -= 1;
  }, 10);
  await Promise.all(Array.from({ length: 25 }, (_, n) => batch(n)));
  expect(sizes).toEqual([10, 10, 5]);
  expect(most).toBe(1);
});

test("a round that fails rejects its calls, and the next round runs", async () => {
  const batch = createBatcher(async (items: string[]) => {
    if (items.includes("bad")) throw new Error("no");
    return items;
  }, 1);
  const results = await Promise.allSettled([batch("good"), batch("bad"), batch("fine")]);
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
  expect(await batch("later")).toEqual(["later"]);
});

test("a round that never ends rejects its calls, and the next round runs", async () => {
  const batch = createBatcher(
    (items: string[]) => (items.includes("stuck") ? new Promise<string[]>(() => {}) : Promise.resolve(items)),
    1,
    20,
  );
  const results = await Promise.allSettled([batch("stuck"), batch("good")]);
  expect(results).toMatchObject([
    { status: "rejected", reason: { message: expect.stringContaining("its outcome is unknown") } },
    { status: "fulfilled", value: ["good"] },
  ]);
});
