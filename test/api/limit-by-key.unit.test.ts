import { setTimeout as sleep } from "node:timers/promises";
import { expect, test } from "vitest";
import { createLimitByKey } from "../../api/webhooks/limit-by-key.ts";

test("calls of one key wait for each other in order, and never for calls of another key", async () => {
  const limit = createLimitByKey(1);
  const ended: string[] = [];
  const slow = async (name: string) => {
    await sleep(30);
    ended.push(name);
  };
  await Promise.all([
    limit("a", () => slow("a1")),
    limit("a", () => slow("a2")),
    limit("b", async () => void ended.push("b")),
    expect(limit("c", () => Promise.reject(new Error("no luck")))).rejects.toThrow("no luck"),
  ]);
  expect(ended).toEqual(["b", "a1", "a2"]);
  expect(await limit("c", async () => "again")).toBe("again");
});
