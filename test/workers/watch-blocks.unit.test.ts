/** How often the chain's head is read: fast while something sent is not mined, and right after a send where the chain mines at once. */
import { expect, test } from "vitest";
import { createPace } from "../../workers/relayer/watch-blocks.ts";

const [one, other] = ["0x01", "0x02"] as const;

test("the head is read five times a second until everything sent is mined, for fifteen seconds at most", () => {
  let now = 0;
  const { sent, mined, pauseMs } = createPace(() => now);
  expect(pauseMs()).toBe(1000);
  sent(one);
  now = 14_000;
  sent(other);
  expect(pauseMs()).toBe(200);
  now = 14_500;
  mined([other]);
  expect(pauseMs()).toBe(200);
  now = 15_000;
  expect(pauseMs()).toBe(1000);
});

test("where the last transaction was mined at once, the head is read often right after the next one was sent", () => {
  let now = 0;
  const { sent, mined, pauseMs } = createPace(() => now);
  sent(one);
  now = 399;
  mined([one]);
  sent(other);
  expect(pauseMs()).toBe(20);
  now += 120;
  expect(pauseMs()).toBe(200);
  now += 279;
  sent(one);
  now += 1;
  // They share a block, and the older one has waited for it.
  mined([other, one]);
  sent(one);
  expect(pauseMs()).toBe(200);
});
