/** What this proves: purchases go on while Redis is emptied, away, and back empty, and each key buys one policy. */
import { expect, test } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { buyThroughRedisOutage } from "./support/redis-outage.ts";

/** One minute in `npm run soak`. */
const AWAY_MS = 6000;

describeWithRedis("Redis", () => {
  test("Redis is emptied, away for six seconds, and back empty: every call gets a receipt", async () => {
    // Three buyers in four phases; how many purchases each phase has depends on the machine.
    expect((await buyThroughRedisOutage(AWAY_MS)).keys).toBeGreaterThanOrEqual(12);
  });
});
