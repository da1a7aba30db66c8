import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect } from "vitest";
import { freshRedis } from "../../support/redis.ts";
import { startTcpProxy } from "../../support/tcp-proxy.ts";
import {
  type CompletedPurchase,
  expectNoFalseFailures,
  expectNoNonceGaps,
  expectOnePolicyPerKey,
} from "./assertions.ts";
import { buyWithRetries } from "./purchase-client.ts";
import { startPurchaseSetup } from "./purchase-setup.ts";

const BUYERS = 3;
/** Pause of each buyer between two purchases, in ms. */
const PAUSE_MS = 700;

/**
 * Flushes the Redis of api and writer, disconnects it for `awayMs` and reconnects it empty while buyers buy at a steady
 * pace. Expects a receipt for every single call, and one policy for each on the chain.
 */
export async function buyThroughRedisOutage(awayMs: number): Promise<{ keys: number }> {
  const redis = await freshRedis();
  const proxy = await startTcpProxy(redis.url);
  const env = { REDIS_URL: proxy.url };
  const setup = await startPurchaseSetup({ buyers: BUYERS, env: { api: env, writer: env } });
  const purchases: CompletedPurchase[] = [];

  async function buyFor(phase: string, ms: number): Promise<void> {
    const until = Date.now() + ms;
    await Promise.all(
      setup.buyers.map(async ({ buy }, buyer) => {
        for (let n = 0; n === 0 || Date.now() < until; n += 1) {
          const planned = { buyer, key: `${phase}-${n}` };
          const answer = await buy({}, { "idempotency-key": planned.key });
          expect(answer.status, `${phase}: ${answer.text}`).toBe(201);
          purchases.push({ planned, answers: [await buyWithRetries(async () => answer)] });
          await sleep(PAUSE_MS);
        }
      }),
    );
  }
  async function flush(): Promise<void> {
    const client = new Redis(redis.url);
    await client.flushall();
    await client.quit();
  }

  await buyFor("before", 0);
  await Promise.all([buyFor("flushed", 3000), sleep(500).then(flush), sleep(1500).then(flush)]);
  await Promise.all([buyFor("away", awayMs), proxy.cut()]);
  await flush();
  await proxy.mend();
  await buyFor("back", 1500);
  await expectOnePolicyPerKey(setup, purchases);
  await expectNoNonceGaps(setup);
  await expectNoFalseFailures(setup);
  return { keys: purchases.length };
}
