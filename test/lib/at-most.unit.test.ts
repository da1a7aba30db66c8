import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAtMost, createAtMostByKey } from "../../lib/at-most.ts";

test("no more is at work than allowed, in the order in which it was asked for, whatever fails", async () => {
  const atMost = createAtMost(3);
  const begun: number[] = [];
  let atWork = 0;
  let most = 0;
  const results = await Promise.allSettled(
    Array.from({ length: 20 }, (_, n) =>
      atMost(async () => {
        begun.push(n);
        atWork += 1;
        most = Math.max(most, atWork);
        await sleep(n % 4);
        atWork -= 1;
        if (n % 5 === 0) throw new Error("no luck");
        return n;
      }),
    ),
  );
  expect(most).toBe(3);
  expect(begun).toEqual(Array.from({ length: 20 }, (_, n) => n));
  expect(results.filter(({ status }) => status === "rejected")).toHaveLength(4);
  expect(await atMost(async () => "again")).toBe("again");
});

test("those of one key wait for each other, and for nobody else's", async () => {
  const atMost = createAtMostByKey(1);
  const ended: string[] = [];
  const slow = async (name: string) => {
    await sleep(30);
    ended.push(name);
  };
  await Promise.all([
    atMost("a", () => slow("a1")),
    atMost("a", () => slow("a2")),
    atMost("b", async () => void ended.push("b")),
    expect(atMost("c", () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck"),
  ]);
  expect(ended).toEqual(["b", "a1", "a2"]);
  expect(await atMost("c", async () => "again")).toBe("again");
});
