import { expect, test } from "vitest";
import type { LogEvent } from "../../src/shared/event.ts";
import { pairWithinTransaction } from "../../src/shared/pairing.ts";
import { perTransaction } from "../../src/shared/transaction.ts";

const log = (logIndex: number, txHash = "0xa", blockHash = "0x1"): LogEvent => ({
  block: { number: 1n, hash: `0x${blockHash.slice(2)}`, timestamp: 0n },
  transaction: { hash: `0x${txHash.slice(2)}` },
  log: { logIndex, address: "0x0" },
});

test("a transaction's memory lasts from its first log to its last", () => {
  const seen = perTransaction((): number[] => []);
  const see = (event: LogEvent) => seen(event).push(event.log.logIndex);
  expect([see(log(1)), see(log(4)), see(log(5))]).toEqual([1, 2, 3]);
  expect(see(log(6, "0xb"))).toBe(1);
});

test("a block whose logs come again begins with an empty memory, and so does the same transaction in another block", () => {
  const seen = perTransaction((): number[] => []);
  const see = (event: LogEvent) => seen(event).push(event.log.logIndex);
  see(log(1));
  expect(see(log(1))).toBe(1);
  see(log(4));
  expect([see(log(1)), see(log(4))]).toEqual([1, 2]);
  expect(see(log(9, "0xa", "0x2"))).toBe(1);
});

test("a log is paired with the oldest of the other kind that has its key, whichever came first", () => {
  const pairs = pairWithinTransaction<string, string>();
  expect(pairs.first(log(1), "x", "first 1")).toBeUndefined();
  expect(pairs.first(log(2), "x", "first 2")).toBeUndefined();
  expect(pairs.second(log(3), "y", "second 3")).toBeUndefined();
  expect(pairs.second(log(4), "x", "second 4")).toBe("first 1");
  expect(pairs.second(log(5), "x", "second 5")).toBe("first 2");
  expect(pairs.first(log(6), "y", "first 6")).toBe("second 3");
  expect(pairs.second(log(7), "x", "second 7")).toBeUndefined();
  expect(pairs.first(log(8, "0xb"), "x", "first 8")).toBeUndefined();
});
