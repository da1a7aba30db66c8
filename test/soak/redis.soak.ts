import { test } from "vitest";
import { redisOutage } from "../fault/support/redis-outage.ts";
import { describeWithRedis } from "../support/redis.ts";

describeWithRedis("Redis", () => {
  test("away for a minute: every call is answered with a receipt", async () => {
    const { keys } = await redisOutage(60_000);
    console.log(`Redis was away for 60 s: ${keys} keys, one policy each`);
  });
});
