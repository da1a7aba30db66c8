/** What a client address may do in a minute. Each test is a client of its own, by the header that the proxy would send. */
import { Redis } from "ioredis";
import { beforeAll, describe, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { productIdOf } from "../../lib/products.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import { atEnd } from "../support/cleanup.ts";
import type { HttpAnswer, HttpRequest } from "../support/http.ts";
import { checkedRequests, fetchOpenApi } from "../support/openapi.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import { type Stack, startStack } from "../support/stack.ts";
import { startTcpProxy } from "../support/tcp-proxy.ts";
import { admin, failure, issueKey } from "./support/api.ts";

const limits = { PUBLIC_RATE_LIMIT: "5", LIVE_SCAN_RATE_LIMIT: "2", FAILED_CREDENTIALS_LIMIT: "3" };
const wallet = anvilAccount(2).address;

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

const startLimited = (env: Record<string, string> = {}) =>
  startStack({ chain, services: ["api"], env: { api: { ...limits, TRUST_PROXY: "loopback", ...env } } });

type Client = (path: string, request?: HttpRequest) => Promise<HttpAnswer>;

/** Requests from an address, each answer held to the document. */
async function clients({ apiUrl }: Stack): Promise<(address: string) => Client> {
  const request = await checkedRequests(apiUrl);
  return (address) => (path, options) =>
    request(path, { ...options, headers: { ...options?.headers, "x-forwarded-for": address } });
}

const numberOf = (answer: HttpAnswer, name: string) => Number(answer.headers.get(name) ?? Number.NaN);
const remaining = (answer: HttpAnswer) => numberOf(answer, "x-ratelimit-remaining");

/** Requests one after the other, with the status and what remains of each. */
async function statuses(client: Client, paths: readonly string[], request?: HttpRequest): Promise<string[]> {
  const seen: string[] = [];
  for (const path of paths) {
    const answer = await client(path, request);
    seen.push(`${answer.status} ${remaining(answer)}`);
  }
  return seen;
}
const times = (count: number, path: string) => Array<string>(count).fill(path);

describe("one process", () => {
  let stack: Stack;
  let from: (address: string) => Client;
  beforeAll(async () => {
    stack = await startLimited();
    from = await clients(stack);
  });

  test("public reads are answered up to the limit, whatever the answer, and 429 above it", async () => {
    const unknown = `0x${"a".repeat(64)}`;
    const client = from("198.51.100.1");
    const paths = [
      "/health",
      "/products",
      `/policies/${unknown}/x`,
      `/policies/${unknown}/1`,
      "/openapi.json",
    ];
    expect(await statuses(client, paths)).toEqual(["200 4", "200 3", "400 2", "404 1", "200 0"]);

    const refused = await client("/health");
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    const reset = numberOf(refused, "x-ratelimit-reset");
    expect([numberOf(refused, "x-ratelimit-limit"), remaining(refused)]).toEqual([5, 0]);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(60);
    expect(numberOf(refused, "retry-after")).toBe(reset);
    expect((await client("/health", { method: "HEAD" })).status).toBe(429);
  });

  test("exactly as many as the limit are answered of those that come at once", async () => {
    const client = from("198.51.100.2");
    const answers = await Promise.all(times(12, "/health").map((path) => client(path)));
    expect(answers.filter((a) => a.status === 200)).toHaveLength(5);
    expect(answers.filter((a) => a.status === 429)).toHaveLength(7);
  });

  test("another address, and another /64, has a limit of its own; addresses of one /64 share one", async () => {
    expect(await statuses(from("198.51.100.3"), times(6, "/health"))).toContain("429 0");
    expect(await statuses(from("198.51.100.4"), ["/health"])).toEqual(["200 4"]);
    expect(await statuses(from("::ffff:198.51.100.4"), ["/health"])).toEqual(["200 3"]);

    expect(await statuses(from("2001:db8:1:1::1"), times(5, "/health"))).toContain("200 0");
    expect(await statuses(from("2001:db8:1:1:ffff::2"), ["/health"])).toEqual(["429 0"]);
    expect(await statuses(from("2001:db8:1:2::1"), ["/health"])).toEqual(["200 4"]);
  });

  test("what a client writes ahead of its proxy's entry does not change who it is", async () => {
    for (let i = 0; i < 5; i += 1) await from(`203.0.113.${i}, 198.51.100.5`)("/health");
    expect(await statuses(from("203.0.113.99, 198.51.100.5"), ["/health"])).toEqual(["429 0"]);
  });

  test("every read of the document that needs no credential is limited, and only such reads", async () => {
    const document = await fetchOpenApi(stack.apiUrl);
    const counted: string[] = [];
    const others: string[] = [];
    const values = {
      productId: productIdOf("FLASHBTC1H-001"),
      policyId: "1",
      address: wallet,
      wallet,
      id: "1",
    };
    const fill = (path: string) =>
      Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
    for (const [path, operations] of Object.entries(document.paths)) {
      const get = operations.get;
      if (!get) continue;
      const answer = await from(`192.0.2.${counted.length + others.length}`)(fill(path));
      const isLimited = answer.status !== 401 && answer.headers.has("x-ratelimit-limit");
      (isLimited ? counted : others).push(path);
      expect("401" in get.responses, path).toBe(!isLimited);
      expect(Object.keys(get.responses), path).toContain("429");
    }
    expect(counted.length).toBeGreaterThan(5);
    expect(others).toContain("/api/v1/auth/me");
  });

  test("pages of other origins may read the headers", async () => {
    const answer = await from("198.51.100.6")("/health", { headers: { origin: "https://example.org" } });
    const exposed = answer.headers.get("access-control-expose-headers")?.split(",") ?? [];
    expect(exposed).toEqual(
      expect.arrayContaining(["x-ratelimit-limit", "x-ratelimit-remaining", "x-ratelimit-reset"]),
    );
  });

  test("refused keys are 429 above their limit, a good key too, and public reads go on", async () => {
    const good = await issueKey(from("198.51.100.7"), wallet);
    const client = from("198.51.100.8");
    const me = "/api/v1/auth/me";
    const bad = { headers: { "x-api-key": `lk_${"a".repeat(64)}` } };
    expect((await client(me, good)).headers.has("x-ratelimit-limit")).toBe(false);
    expect(await statuses(client, [me], bad)).toEqual(["401 2"]);
    expect(await statuses(client, [me])).toEqual(["401 1"]);
    expect((await client(me, good)).status).toBe(200);
    expect(await statuses(client, [me, me], bad)).toEqual(["401 0", "429 0"]);
    const refused = await client(me, good);
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    expect(numberOf(refused, "retry-after")).toBe(numberOf(refused, "x-ratelimit-reset"));
    expect((await client("/health")).status).toBe(200);
    expect((await from("198.51.100.9")(me, good)).status).toBe(200);
  });

  test("refused admin tokens have the same limit, apart from the keys'", async () => {
    const client = from("198.51.100.10");
    const keys = "/api/v1/keys/generate";
    const bad = { headers: { "x-admin-token": "not the token" }, body: { wallet } };
    expect(await statuses(client, times(4, "/api/v1/auth/me"))).toContain("429 0");
    expect((await client(keys, { headers: admin, body: { wallet } })).status).toBe(201);
    const guesses = await Promise.all(times(9, keys).map((path) => client(path, bad)));
    expect(guesses.filter((a) => a.status === 401)).toHaveLength(3);
    expect(failure(await client(keys, { headers: admin, body: { wallet } }))).toEqual([429, "rate_limit"]);
  });
});

test("without TRUST_PROXY no header makes another client of a request", async () => {
  const stack = await startLimited({ TRUST_PROXY: "", PUBLIC_RATE_LIMIT: "30" });
  const from = await clients(stack);
  const answers: HttpAnswer[] = [];
  for (let i = 0; i < 31; i += 1) answers.push(await from(`198.51.100.${i}`)("/health"));
  const left = answers.map(remaining);
  expect(left).toEqual(left.map((_, i) => Math.max(0, (left[0] ?? 0) - i)));
  expect(answers.at(-1)?.status).toBe(429);
});

describeWithRedis("with Redis", () => {
  /** An api on this Redis, counting there already: at its very start it may count by itself for a moment. */
  async function startOn(url: string, redis: Redis): Promise<(address: string) => Client> {
    const from = await clients(await startLimited({ REDIS_URL: url }));
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

  test("processes share the limits: not one request more is answered", async () => {
    const { url, redis } = await openRedis();
    const [one, other] = [await startOn(url, redis), await startOn(url, redis)];
    const [first, second] = [one("198.51.100.1"), other("198.51.100.1")];
    expect(await statuses(first, times(3, "/health"))).toEqual(["200 4", "200 3", "200 2"]);
    expect(await statuses(second, times(3, "/health"))).toEqual(["200 1", "200 0", "429 0"]);
    expect(failure(await first("/health"))).toEqual([429, "rate_limit"]);

    const [here, there] = [one("198.51.100.2"), other("198.51.100.2")];
    const answers = await Promise.all(times(40, "/health").map((path, i) => (i % 2 ? here : there)(path)));
    expect(answers.filter((a) => a.status === 200)).toHaveLength(5);

    expect(await statuses(one("198.51.100.3"), times(3, "/api/v1/auth/me"))).toContain("401 0");
    expect((await other("198.51.100.3")("/api/v1/auth/me")).status).toBe(429);
  });

  test("while it is away each process counts by itself, and together again once it is back", async () => {
    const { url, redis } = await openRedis();
    const proxy = await startTcpProxy(url);
    const from = await startOn(proxy.url, redis);
    await proxy.cut();
    const cutOff = from("198.51.100.1");
    expect(await statuses(cutOff, times(6, "/health"))).toEqual([
      ...["200 4", "200 3", "200 2", "200 1", "200 0"],
      "429 0",
    ]);
    expect(await redis.exists("cover:limit:public:198.51.100.1")).toBe(0);
    expect((await from("198.51.100.2")("/api/v1/auth/me")).status).toBe(401);
    await proxy.mend();
    await expect
      .poll(
        async () => {
          await cutOff("/health");
          return redis.exists("cover:limit:public:198.51.100.1");
        },
        { timeout: 20_000 },
      )
      .toBe(1);
  });

  test("while it hangs, requests are answered all the same", async () => {
    const { url, redis } = await openRedis();
    const from = await startOn(url, redis);
    const admins = redis.duplicate();
    await admins.call("CLIENT", "PAUSE", "600000", "ALL");
    let hangs = true;
    const ping = redis.ping().then(() => {
      hangs = false;
    });
    expect(await statuses(from("198.51.100.1"), times(6, "/health"))).toContain("429 0");
    expect(await statuses(from("198.51.100.2"), times(4, "/api/v1/auth/me"))).toContain("429 0");
    expect(hangs).toBe(true);
    admins.disconnect();
    redis.disconnect();
    await ping.catch(() => {});
  });
});
