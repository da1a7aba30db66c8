/** How the scan window adapts to the range that a node accepts; here the node has a constant limit. */
import { expect, test } from "vitest";
import { WindowSize } from "../../../lib/chain/log-scan.ts";

/** Reads `blocks` blocks from a node that accepts `limit` per call. @returns the number of calls, and of refused ones */
function readAll(window: WindowSize, blocks: bigint, limit: bigint): { calls: number; refused: number } {
  const unread = [{ from: 1n, to: blocks }];
  let calls = 0;
  let refused = 0;
  for (let next = unread.pop(); next; next = unread.pop()) {
    const length = next.to - next.from + 1n;
    if (length > window.blocks) {
      const end = next.from + window.blocks;
      unread.push({ from: end, to: next.to }, { from: next.from, to: end - 1n });
      continue;
    }
    calls += 1;
    if (length <= limit) {
      window.succeeded(next);
      continue;
    }
    refused += 1;
    window.refused(next);
    const middle = next.from + length / 2n;
    unread.push({ from: middle, to: next.to }, { from: next.from, to: middle - 1n });
  }
  return { calls, refused };
}

test.each([1n, 2_000n, 10_000n, 50_000n])("a limit of %i blocks costs few refused calls", (limit) => {
  const least = 1000;
  const { calls, refused } = readAll(new WindowSize(), limit * BigInt(least), limit);
  expect(refused).toBeLessThan(0.05 * least);
  expect(calls).toBeLessThan(2.2 * least);
});

test("without a limit the window grows quickly to the whole range", () => {
  expect(readAll(new WindowSize(), 20_000_000n, 10n ** 12n)).toMatchObject({ refused: 0 });
  expect(readAll(new WindowSize(), 20_000_000n, 10n ** 12n).calls).toBeLessThan(60);
});

test("the learned window size is kept, and reset after the node was down", () => {
  const window = new WindowSize();
  readAll(window, 100_000n, 100n);
  expect(window.blocks).toBeLessThanOrEqual(200n);
  window.reset();
  expect(window.blocks).toBe(10_000n);
});
