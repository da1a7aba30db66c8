/** How old the newest block may be, and which one is newer. */
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import type { AsOf } from "../../api/chain/block.ts";
import { createNewestHead } from "../../api/indexed/newest-head.ts";

const block = (number: number): AsOf => ({
  source: "index",
  number: BigInt(number),
  hash: `0x${String(number).padStart(64, "0")}`,
  timestamp: BigInt(number),
});

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["performance", "setTimeout", "clearTimeout"] });
});
afterEach(() => {
  vi.useRealTimers();
});

/** A head whose reads end when the test says so. */
function openHead() {
  const reads: ((asOf: AsOf) => void)[] = [];
  const newest = createNewestHead({ head: () => new Promise((resolve) => reads.push(resolve)) });
  return { newest, reads };
}

test("a block that is 20 ms old is read again, once for all who ask", async () => {
  const { newest, reads } = openHead();
  const first = newest.get();
  reads[0]?.(block(1));
  expect(await first).toEqual(block(1));
  vi.advanceTimersByTime(19);
  expect([await newest.get(), reads.length]).toEqual([block(1), 1]);
  vi.advanceTimersByTime(1);
  const next = [newest.get(), newest.get()];
  expect(reads.length).toBe(2);
  reads[1]?.(block(2));
  expect(await Promise.all(next)).toEqual([block(2), block(2)]);
});

test("a lower block counts only if its read began after the higher one was known", async () => {
  const { newest } = openHead();
  const begun = performance.now();
  vi.advanceTimersByTime(1);
  newest.learn(block(2), performance.now());
  newest.learn(block(1), begun);
  expect(newest.known()).toEqual(block(2));
  newest.learn(block(1), performance.now());
  expect(newest.known()).toEqual(block(1));
});
