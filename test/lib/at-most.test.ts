import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createAtMost } from "../../lib/at-most.ts";

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
