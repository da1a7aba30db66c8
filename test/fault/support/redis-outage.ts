import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { freshRedis } from "../../support/redis.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import { buyPatiently } from "./client.ts";
import { type Bought, expectNoFalseFailures, expectNoGaps, expectOnePolicyPerKey } from "./truth.ts";
import { startWorld } from "./world.ts";

const BUYERS = 3;
/** Each buyer buys so often, in ms. */
const PACE_MS = 700;

/**
 * Api and writer with the same Redis, which is emptied, goes away for `awayMs` and comes back empty while buyers buy
 * at a steady pace. Expects a receipt for every single call, and one policy for each on the chain.
 */
export async function redisOutage(awayMs: number): Promise<{ keys: number }> {
  const redis = await freshRedis();
  const link = await startTcpProxy(redis.url);
  const env = { REDIS_URL: link.url };
  const world = await startWorld({ buyers: BUYERS, env: { api: env, writer: env } });
  const bought: Bought[] = [];

  async function shop(phase: string, ms: number): Promise<void> {
    const until = Date.now() + ms;
    await Promise.all(
      world.buyers.map(async ({ buy }, buyer) => {
        for (let n = 0; n === 0 || Date.now() < until; n += 1) {
          const planned = { buyer, key: `${phase}-${n}` };
          const answer = await buy({}, { "idempotency-key": planned.key });
          expect(answer.status, `${phase}: ${answer.text}`).toBe(201);
          bought.push({ planned, told: [await buyPatiently(async () => answer)] });
          await sleep(PACE_MS);
        }
      }),
    );
  }
  async function empty(): Promise<void> {
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
  }

  await shop("there", 2000);
  await Promise.all([shop("emptied", 3000), sleep(500).then(empty), sleep(1500).then(empty)]);
  await Promise.all([shop("away", awayMs), link.cut()]);
  await empty();
  await link.mend();
  await shop("back", 3000);
  await expectOnePolicyPerKey(world, bought);
  await expectNoGaps(world);
  await expectNoFalseFailures(world);
  return { keys: bought.length };
}
