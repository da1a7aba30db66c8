import { test } from "vitest";
import { buyThroughRedisOutage } from "../fault/support/redis-outage.ts";
import { describeWithRedis } from "../support/redis.ts";

describeWithRedis("Redis", () => {
  test("Redis is away for a minute: every call gets a receipt", async () => {
    const { keys } = await buyThroughRedisOutage(60_000);
    console.log(`Redis was away for 60 s: ${keys} keys, one policy each`);
  });
});
