/** Rate limits of several processes with one Redis, and of a process whose Redis is down. */
import { Redis } from "ioredis";
import { beforeAll, expect, test } from "vitest";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { type Client, clientsOf, repeat, startLimitedApi, statuses } from "./support/rate-limits.ts";

describeWithRedis("with Redis", () => {
  let chain: TestChain;
  beforeAll(async () => {
    chain = await startChain();
  });

  /** Starts an api and waits until it counts in this Redis: right after its start it may count in memory. */
  async function startOn(url: string, redis: Redis): Promise<(address: string) => Client> {
    const from = await clientsOf(await startLimitedApi(chain, { REDIS_URL: url }));
    let visitor = 0;
    await expect
      .poll(async () => {
        const address = `192.0.2.${visitor++ % 250}`;
        await redis.del(`cover:limit:public:${address}`);
        await from(address)("/health");
        return redis.exists(`cover:limit:public:${address}`);
      })
      .toBe(1);
    return from;
  }
  async function openRedis(): Promise<{ url: string; redis: Redis }> {
    const { url } = await freshRedis();
    const redis = new Redis(url);
    atEnd(async () => redis.disconnect());
    return { url, redis };
  }

  test("processes share the limits exactly", async () => {
    const { url, redis } = await openRedis();
    const [one, other] = [await startOn(url, redis), await startOn(url, redis)];
    let addresses = 0;
    /** A process counts a request in memory when Redis is slow to answer, so a next attempt has a new address. */
    const attempt = <T>(scenario: (first: Client, second: Client) => Promise<T>) =>
      expect.poll(() => {
        const address = `198.51.100.${addresses++ % 250}`;
        return scenario(one(address), other(address));
      });
    await attempt(async (first, second) => [
      ...(await statuses(first, repeat(3, "/health"))),
      ...(await statuses(second, repeat(3, "/health"))),
      ...(await statuses(first, ["/health"])),
    ]).toEqual(["200 4", "200 3", "200 2", "200 1", "200 0", "429 0", "429 0"]);
    await attempt(async (first, second) => {
      const paths = repeat(40, "/health");
      const answers = await Promise.all(paths.map((path, i) => (i % 2 ? first : second)(path)));
      return answers.filter(({ status }) => status === 200).length;
    }).toBe(5);
    await attempt(async (first, second) => [
      ...(await statuses(first, repeat(3, "/api/v1/auth/me"))),
      ...(await statuses(second, ["/api/v1/auth/me"])),
    ]).toEqual(["401 2", "401 1", "401 0", "429 0"]);
  });

  test("while Redis is down each process counts in memory, and in Redis again once it is back", async () => {
    const { url, redis } = await openRedis();
    const proxy = await startTcpProxy(url);
    const from = await startOn(proxy.url, redis);
    await proxy.cut();
    const cutOff = from("198.51.100.1");
    expect(await statuses(cutOff, repeat(6, "/health"))).toEqual([
      ...["200 4", "200 3", "200 2", "200 1", "200 0"],
      "429 0",
    ]);
    expect(await redis.exists("cover:limit:public:198.51.100.1")).toBe(0);
    expect((await from("198.51.100.2")("/api/v1/auth/me")).status).toBe(401);
    await proxy.mend();
    await expect
      .poll(async () => {
        await cutOff("/health");
        return redis.exists("cover:limit:public:198.51.100.1");
      })
      .toBe(1);
  });

  test("while Redis hangs, requests get responses and are still limited", async () => {
    const { url, redis } = await openRedis();
    const from = await startOn(url, redis);
    const admins = redis.duplicate();
    await admins.call("CLIENT", "PAUSE", "600000", "ALL");
    let hangs = true;
    const ping = redis.ping().then(() => {
      hangs = false;
    });
    expect(await statuses(from("198.51.100.1"), repeat(6, "/health"))).toContain("429 0");
    expect(await statuses(from("198.51.100.2"), repeat(4, "/api/v1/auth/me"))).toContain("429 0");
    expect(hangs).toBe(true);
    admins.disconnect();
    redis.disconnect();
    await ping.catch(() => {});
  });
});
