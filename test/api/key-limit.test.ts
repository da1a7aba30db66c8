/** What a key may do in a minute, in one process and in several. */
import { Redis } from "ioredis";
import postgres from "postgres";
import { beforeAll, describe, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import { freshDatabase } from "../support/database.ts";
import type { HttpAnswer } from "../support/http.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import type { Stack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { admin, failure, issueKey } from "./support/api.ts";
import {
  type Client,
  clients,
  numberOf,
  remaining,
  startLimited,
  statuses,
  times,
} from "./support/limited.ts";

const wallet = anvilAccount(2).address;
const me = "/api/v1/auth/me";
/** The limits as they are when nobody sets them. */
const defaults = { FREE_KEY_RATE_LIMIT: "", PAID_KEY_RATE_LIMIT: "" };

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

async function newKey(client: Client, tier: "free" | "paid" = "free") {
  const { keyId, headers } = await issueKey(client, wallet, tier);
  return { keyId, request: { headers } };
}

/** As many requests at once through each of the clients by turns; how many of them were answered with 200. */
async function answered(to: readonly Client[], count: number, request: object): Promise<number> {
  const sent = times(count, me).map((path, i) => to[i % to.length]?.(path, request));
  const answers = (await Promise.all(sent)).filter((answer): answer is HttpAnswer => answer !== undefined);
  expect(new Set(answers.map(({ status }) => status)).size).toBeLessThanOrEqual(2);
  for (const answer of answers.filter(({ status }) => status !== 200)) {
    expect(failure(answer)).toEqual([429, "rate_limit"]);
    expect(numberOf(answer, "retry-after")).toBe(numberOf(answer, "x-ratelimit-reset"));
  }
  return answers.filter(({ status }) => status === 200).length;
}

describe("one process", () => {
  let stack: Stack;
  let client: Client;
  let sql: postgres.Sql;
  beforeAll(async () => {
    // One of the tests looks at the counts in Postgres; those in Redis have a group of their own.
    stack = await startLimited(chain, defaults, { redis: false });
    client = (await clients(stack))("198.51.100.1");
    sql = postgres(stack.databaseUrl, { max: 1, onnotice: () => {} });
    atEnd(() => sql.end());
  });

  test("a key of the free tier has 10 requests a minute; each answer tells what is left, whatever it is", async () => {
    const { request } = await newKey(client);
    const unknown = "/api/v1/purchases/5f0c4f1e-6d1b-4f0a-9a53-0d9b8f6c2b11";
    expect(await statuses(client, [me, "/api/v1/purchases/x", unknown], request)).toEqual([
      ...["200 9", "400 8", "404 7"],
    ]);
    const bad = { ...request, body: {} };
    expect(await statuses(client, times(2, "/api/v1/policies"), bad)).toEqual(["400 6", "400 5"]);
    expect(await statuses(client, times(6, me), request)).toEqual([
      ...["200 4", "200 3", "200 2", "200 1", "200 0", "429 0"],
    ]);
    const refused = await client("/api/v1/policies", bad);
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    const reset = numberOf(refused, "x-ratelimit-reset");
    expect([numberOf(refused, "x-ratelimit-limit"), remaining(refused)]).toEqual([10, 0]);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(60);
    expect(numberOf(refused, "retry-after")).toBe(reset);
  });

  test("exactly 10 of 60 at once are answered to the free tier, and 100 of 160 to the paid one", async () => {
    expect(await answered([client], 60, (await newKey(client)).request)).toBe(10);
    expect(await answered([client], 160, (await newKey(client, "paid")).request)).toBe(100);
  });

  test("the limit is the key's: another key of the wallet has its own, another address does not", async () => {
    const [one, other] = [await newKey(client), await newKey(client)];
    const elsewhere = (await clients(stack))("198.51.100.99");
    expect(await answered([client, elsewhere], 20, one.request)).toBe(10);
    expect(await statuses(client, [me], other.request)).toEqual(["200 9"]);
  });

  test("spellings of the header that are not the key are refused and cost it nothing", async () => {
    const { headers } = await issueKey(client, wallet);
    const key = headers["x-api-key"];
    const stranger = (await clients(stack))("198.51.100.98");
    for (const spelling of [key.toUpperCase(), `${key}, ${key}`, `${key}0`]) {
      expect((await stranger(me, { headers: { "x-api-key": spelling } })).status).toBe(401);
    }
    expect(await statuses(client, [me], { headers: { "x-api-key": ` ${key} ` } })).toEqual(["200 9"]);
    expect(await statuses(client, [me], { headers })).toEqual(["200 8"]);
  });

  test("a flood of bad keys is refused by its address, and costs the keys of others nothing", async () => {
    const { request } = await newKey(client);
    const flooder = (await clients(stack))("198.51.100.96");
    const guesses = times(60, me).map((path, i) => {
      const key = `lk_${String(i).padStart(64, "0")}`;
      return flooder(path, { headers: { "x-api-key": key } });
    });
    const answers = (await Promise.all(guesses)).map((answer) => failure(answer).join(" "));
    expect(answers.filter((answer) => answer === "401 unauthenticated")).toHaveLength(3);
    expect(answers.filter((answer) => answer === "429 rate_limit")).toHaveLength(57);
    expect((await flooder(me, request)).status).toBe(429);
    expect(await statuses(client, [me], request)).toEqual(["200 9"]);
  });

  test("the limit begins afresh when its minute is over", async () => {
    const { keyId, request } = await newKey(client);
    expect(await statuses(client, [me, me], request)).toEqual(["200 9", "200 8"]);
    await sql`update service.rate_limit set expire = ${Date.now() - 1} where key like ${`%free-keys:${keyId}`}`;
    expect(await statuses(client, [me], request)).toEqual(["200 9"]);
  });

  test("the last use is true to the minute, and written no more often than that", async () => {
    const { keyId, request } = await newKey(client, "paid");
    const lastUse = async (): Promise<Date> =>
      (await sql`select last_used_at from service.api_key where id = ${keyId}`)[0]?.last_used_at;
    const setBack = async (seconds: number): Promise<Date> => {
      const [row] =
        await sql`update service.api_key set last_used_at = now() - make_interval(secs => ${seconds})
        where id = ${keyId} returning last_used_at`;
      return row?.last_used_at;
    };
    await answered([client], 20, request);
    await expect.poll(lastUse).toBeInstanceOf(Date);
    const recent = await setBack(50);
    await client(me, request);
    await client(me, request);
    expect(await lastUse()).toEqual(recent);
    const old = await setBack(61);
    await client(me, request);
    await expect.poll(async () => (await lastUse()) > old).toBe(true);
    expect(Date.now() - (await lastUse()).getTime()).toBeLessThan(60_000);
  });

  test("without a database no key gets through, with a limit or without", async () => {
    const proxy = await startTcpProxy(stack.databaseUrl);
    const cut = await startLimited(chain, defaults, { databaseUrl: proxy.url });
    const from = (await clients(cut))("198.51.100.97");
    const { request } = await newKey(from);
    expect((await from(me, request)).status).toBe(200);
    await proxy.cut();
    expect(failure(await from(me, request))).toEqual([503, "database_unavailable"]);
  });
});

/** Two processes on one database, counting there already. */
async function pair(env: Record<string, string> = {}): Promise<[Client, Client]> {
  const databaseUrl = await freshDatabase();
  const stacks = [
    await startLimited(chain, { ...defaults, ...env }, { databaseUrl }),
    await startLimited(chain, { ...defaults, ...env }, { databaseUrl }),
  ] as const;
  return [(await clients(stacks[0]))("198.51.100.1"), (await clients(stacks[1]))("198.51.100.2")];
}

describe("two processes on Postgres", () => {
  test("share a key's limit to the request", async () => {
    const both = await pair();
    expect(await answered(both, 60, (await newKey(both[0])).request)).toBe(10);
    expect(await answered(both, 160, (await newKey(both[1], "paid")).request)).toBe(100);
  });

  test("refuse a key from the moment at which one of them has revoked it", async () => {
    const [one, other] = await pair();
    const { keyId, request } = await newKey(one, "paid");
    expect((await other(me, request)).status).toBe(200);
    await one(`/api/v1/keys/${keyId}`, { method: "DELETE", headers: admin });
    expect(failure(await other(me, request))).toEqual([401, "unauthenticated"]);
    expect(failure(await one(me, request))).toEqual([401, "unauthenticated"]);
  });
});

describeWithRedis("two processes with Redis", () => {
  test("share a key's limit to the request, and count on in Postgres while Redis is away", async () => {
    const { url } = await freshRedis();
    const redis = new Redis(url);
    atEnd(async () => redis.disconnect());
    const proxy = await startTcpProxy(url);
    const both = await pair({ REDIS_URL: proxy.url });
    const counted = async (name: string) => (await redis.keys(`cover:limit:${name}:*`)).length;
    for (const client of both) {
      const before = await counted("paid-keys");
      await expect
        .poll(
          async () => {
            await client(me, (await newKey(client, "paid")).request);
            return counted("paid-keys");
          },
          { timeout: 60_000 },
        )
        .toBeGreaterThan(before);
    }
    expect(await answered(both, 60, (await newKey(both[0])).request)).toBe(10);
    expect(await answered(both, 160, (await newKey(both[1], "paid")).request)).toBe(100);

    const before = await counted("free-keys");
    const { request } = await newKey(both[0]);
    await proxy.cut();
    expect(await answered(both, 60, request)).toBe(10);
    expect(await counted("free-keys")).toBe(before);
  });
});
