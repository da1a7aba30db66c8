/** The rate limit of a key over two processes, which count in Postgres or in Redis. */
import { Redis } from "ioredis";
import { beforeAll, describe, expect, test } from "vitest";
import { waitFor } from "../../scripts/local/wait.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { admin, failure } from "./support/api.ts";
import { countAccepted, defaults, me, newKey } from "./support/key-limits.ts";
import { type Client, clientsOf, startLimitedApi } from "./support/rate-limits.ts";

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

type TwoProcesses = {
  readonly clients: readonly [Client, Client];
  /** How often one of the two has begun to count without Redis. */
  readonly redisFailures: () => number;
};

/** Starts two processes on one database. */
async function startTwo(env: Record<string, string> = {}): Promise<TwoProcesses> {
  const databaseUrl = await freshDatabase();
  const start = () => startLimitedApi(chain, { ...defaults, ...env }, { databaseUrl });
  const [one, other] = await Promise.all([start(), start()]);
  return {
    clients: [(await clientsOf(one))("198.51.100.1"), (await clientsOf(other))("198.51.100.2")],
    redisFailures: () =>
      [one, other].reduce((sum, { output }) => sum + output("api").split("Redis is down").length - 1, 0),
  };
}

describe("two processes on Postgres", () => {
  let both: TwoProcesses["clients"];
  beforeAll(async () => {
    both = (await startTwo()).clients;
  });

  test("share a key's limit exactly", async () => {
    expect(await countAccepted(both, 60, (await newKey(both[0])).request)).toBe(10);
    expect(await countAccepted(both, 160, (await newKey(both[1], "paid")).request)).toBe(100);
  });

  test("refuse a key as soon as one of them has revoked it", async () => {
    const [one, other] = both;
    const { keyId, request } = await newKey(one, "paid");
    expect((await other(me, request)).status).toBe(200);
    await one(`/api/v1/keys/${keyId}`, { method: "DELETE", headers: admin });
    expect(failure(await other(me, request))).toEqual([401, "unauthenticated"]);
    expect(failure(await one(me, request))).toEqual([401, "unauthenticated"]);
  });
});

describeWithRedis("two processes with Redis", () => {
  test("share a key's limit exactly, and count in Postgres while Redis is down", async () => {
    const { url } = await freshRedis();
    const redis = new Redis(url);
    atEnd(async () => redis.disconnect());
    const proxy = await startTcpProxy(url);
    const { clients: both, redisFailures } = await startTwo({ REDIS_URL: proxy.url });
    const countedInRedis = async (keyId: number) =>
      (await redis.keys(`cover:limit:*-keys:${keyId}`)).length > 0;
    const countsInRedis = (client: Client) =>
      waitFor({
        what: "a count in Redis",
        probe: async () => {
          const { keyId, request } = await newKey(client, "paid");
          await client(me, request);
          return (await countedInRedis(keyId)) || undefined;
        },
      });
    /** What a new key may do while Redis counts; on a busy machine it may answer too late, and Postgres counts from zero. */
    const acceptedByRedis = (count: number, tier: "free" | "paid") =>
      waitFor({
        what: "a count by Redis alone",
        probe: async () => {
          for (const client of both) await countsInRedis(client);
          const before = redisFailures();
          const accepted = await countAccepted(both, count, (await newKey(both[0], tier)).request);
          return redisFailures() === before ? accepted : undefined;
        },
      });
    expect(await acceptedByRedis(60, "free")).toBe(10);
    expect(await acceptedByRedis(160, "paid")).toBe(100);

    const { keyId, request } = await newKey(both[0]);
    await proxy.cut();
    expect(await countAccepted(both, 60, request)).toBe(10);
    expect(await countedInRedis(keyId)).toBe(false);
  });
});
