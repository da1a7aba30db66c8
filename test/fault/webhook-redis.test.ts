/**
 * What this proves: with the queues in Redis, deliveries stay correct although Redis is flushed several times and unavailable
 * for a while.
 */
import { setTimeout as sleep } from "node:timers/promises";
import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { reset, startReceivers, status } from "../support/receiver.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { drawSeed } from "../support/seed.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { players } from "./support/event-maker.ts";
import {
  expectCorrectDeliveries,
  failingFirst,
  keepRetriesDue,
  startWebhookWorld,
  subscribe,
} from "./support/webhook-world.ts";

const seed = drawSeed("FAULT_SEED");
const OUTAGE_MS = 5000;

describeWithRedis("webhooks with their queue in Redis", () => {
  test(`Redis is flushed and unavailable (FAULT_SEED=${seed})`, { timeout: 1_200_000 }, async () => {
    const redis = await freshRedis();
    const link = await startTcpProxy(redis.url);
    const env = { REDIS_URL: link.url };
    const world = await startWebhookWorld({ seed, purchases: 12, env: { api: env, writer: env } });
    const { maker, stack } = world;
    const receivers = await startReceivers();
    const [first = "", second = "", third = ""] = players.map(({ address }) => address);
    const subscribers = [
      await subscribe(world, receivers.at("good"), first),
      await subscribe(world, receivers.at("fails"), second, ["*"], failingFirst(1, status(500), reset)),
      await subscribe(world, receivers.at("some"), third, ["policy_purchased", "bond_minted"]),
    ];
    const stopRetries = keepRetriesDue(world);
    async function flush(): Promise<void> {
      const client = new Redis(redis.url);
      await client.flushall();
      await client.quit();
    }
    const faults: Readonly<Record<number, () => Promise<void>>> = {
      4: flush,
      5: flush,
      8: () => stack.kill9("writer"),
      9: flush,
      10: () => stack.start("writer", { wait: false }).then(() => {}),
      13: link.cut,
      16: () => sleep(OUTAGE_MS),
      18: () => flush().then(link.mend),
    };
    for (let n = 0; n < 24; n += 1) {
      await faults[n]?.();
      await maker.block();
    }
    const { events } = await expectCorrectDeliveries(world, subscribers);
    expect(events).toBeGreaterThan(25);
    await stopRetries();
  });
});
