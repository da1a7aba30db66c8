/** When a failed task of the keeper is tried again. */
import { expect, test } from "vitest";
import { LONGEST_UNSENT, retryAfter } from "../../workers/keeper/startable-tasks.ts";
import { queueTask } from "../../workers/keeper/task.ts";

const HOUR = 3600;

test("after each failure in a row it waits four times as long, an hour at most", () => {
  const waits = [1, 2, 3, 4, 5, 6, 7, 50].map((failures) => retryAfter(failures, undefined));
  expect(waits).toEqual([5, 20, 80, 320, 1280, HOUR, HOUR, HOUR]);
});

test("it waits a quarter of the time until its deadline at most, so that it is tried again in time", () => {
  expect(retryAfter(6, 24n * 3600n)).toBe(HOUR);
  expect(retryAfter(6, 3600n)).toBe(900);
  expect(retryAfter(3, 100n)).toBe(25);
});

test("near its deadline and after it, it still waits five seconds", () => {
  for (const left of [19n, 1n, 0n, -1n, -100_000n]) expect(retryAfter(9, left)).toBe(5);
});

test("whatever its failures are, it is tried several times before its deadline", () => {
  for (let failures = 1; failures < 40; failures += 1) {
    let left = 3600n;
    let tries = 0;
    for (let count = failures; left > 0n; count += 1) {
      left -= BigInt(retryAfter(count, left));
      tries += 1;
    }
    expect(tries).toBeGreaterThan(10);
  }
});

test("what fails without being sent is tried again within the minute after which another observation may come", () => {
  for (let failures = 1; failures < 40; failures += 1)
    expect(retryAfter(failures, 24n * 3600n, LONGEST_UNSENT)).toBeLessThanOrEqual(60);
});

test("the redemption queue is called until its week's last second, and is another task after each payment", () => {
  const of = (paid: bigint) => queueTask({ bondVault: `0x${"b".repeat(40)}` }, { week: 2952n, paid });
  expect(of(3n)).toMatchObject({ policyId: 29_520_003n, deadline: 1_785_974_399n });
  expect(of(4n).policyId).toBe(29_520_004n);
});
