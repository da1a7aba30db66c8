/** The rate limits of a client address per minute. */
import { beforeAll, describe, expect, test } from "vitest";
import { anvilAccount } from "../../lib/chain/client.ts";
import { productIdOf } from "../../lib/products.ts";
import { startChain, type TestChain } from "../support/chain.ts";
import type { HttpAnswer } from "../support/http.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import type { Stack } from "../support/stack.ts";
import { UNLIMITED } from "../support/stack.ts";
import { admin, failure, issueKey, newWallet } from "./support/api.ts";
import {
  type Client,
  clientsOf,
  headerNumber,
  remaining,
  repeat,
  startLimitedApi,
  statuses,
} from "./support/rate-limits.ts";

const wallet = anvilAccount(2).address;

let chain: TestChain;
beforeAll(async () => {
  chain = await startChain();
});

describe("one process", () => {
  let stack: Stack;
  let from: (address: string) => Client;
  beforeAll(async () => {
    stack = await startLimitedApi(chain);
    from = await clientsOf(stack);
  });

  test("public reads count whatever their status, and get 429 above the limit", async () => {
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
    const reset = headerNumber(refused, "x-ratelimit-reset");
    expect([headerNumber(refused, "x-ratelimit-limit"), remaining(refused)]).toEqual([5, 0]);
    expect(reset).toBeGreaterThan(0);
    expect(reset).toBeLessThanOrEqual(60);
    expect(headerNumber(refused, "retry-after")).toBe(reset);
    expect((await client("/health", { method: "HEAD" })).status).toBe(429);
  });

  test("what reaches no route counts as a public read: unknown addresses, methods, encodings, preflights", async () => {
    const requests: [path: string, method: string, status: number][] = [
      ["/nothing/here", "GET", 404],
      ["/api/v1/policies/x/y/z", "DELETE", 404],
      ["/api/v1/policies/x/y", "DELETE", 405],
      ["/health", "POST", 405],
      ["/api/v1/agent/onboard", "GET", 405],
      ["/%zz", "GET", 400],
      ["/api/v1/policies", "OPTIONS", 204],
      ["/docs/nothing.md", "GET", 404],
    ];
    for (const [index, [path, method, status]] of requests.entries()) {
      const client = from(`198.51.100.${20 + index}`);
      const all = await statuses(client, repeat(6, path), { method });
      expect([method, path, ...all]).toEqual([
        ...[method, path],
        ...[4, 3, 2, 1, 0].map((left) => `${status} ${left}`),
        "429 0",
      ]);
      const refused = await client(path, { method });
      expect(failure(refused)).toEqual([429, "rate_limit"]);
      expect(headerNumber(refused, "retry-after")).toBe(headerNumber(refused, "x-ratelimit-reset"));
    }
  });

  test("of simultaneous requests exactly the limit gets 200", async () => {
    const client = from("198.51.100.2");
    const answers = await Promise.all(repeat(12, "/health").map((path) => client(path)));
    expect(answers.filter((a) => a.status === 200)).toHaveLength(5);
    expect(answers.filter((a) => a.status === 429)).toHaveLength(7);
  });

  test("each address and each IPv6 /64 has its own limit; addresses of one /64 share it", async () => {
    expect(await statuses(from("198.51.100.3"), repeat(6, "/health"))).toContain("429 0");
    expect(await statuses(from("198.51.100.4"), ["/health"])).toEqual(["200 4"]);
    expect(await statuses(from("::ffff:198.51.100.4"), ["/health"])).toEqual(["200 3"]);

    expect(await statuses(from("2001:db8:1:1::1"), repeat(5, "/health"))).toContain("200 0");
    expect(await statuses(from("2001:db8:1:1:ffff::2"), ["/health"])).toEqual(["429 0"]);
    expect(await statuses(from("2001:db8:1:2::1"), ["/health"])).toEqual(["200 4"]);
  });

  test("live scans have a limit separate from public reads", async () => {
    const client = from("198.51.100.11");
    const scans = [`/api/v1/public/policies/${wallet}`, `/api/v1/public/bonds/${wallet}`];
    expect(await statuses(client, [...scans, ...scans])).toEqual(["200 1", "200 0", "429 0", "429 0"]);
    expect(await statuses(client, repeat(6, "/health"))).toContain("200 4");
  });

  test("addresses that a client puts before its proxy's X-Forwarded-For entry are ignored", async () => {
    for (let i = 0; i < 5; i += 1) await from(`203.0.113.${i}, 198.51.100.5`)("/health");
    expect(await statuses(from("203.0.113.99, 198.51.100.5"), ["/health"])).toEqual(["429 0"]);
  });

  test("exactly the documented reads without a credential are limited by address", async () => {
    const document = await fetchOpenApi(stack.apiUrl);
    const counted: string[] = [];
    const others: string[] = [];
    const values = {
      productId: productIdOf("FLASHBTC1H-001"),
      policyId: "1",
      address: wallet,
      wallet,
      id: "1",
      listingId: "1",
    };
    const fill = (path: string) =>
      Object.entries(values).reduce((text, [name, value]) => text.replace(`{${name}}`, value), path);
    for (const [path, operations] of Object.entries(document.paths)) {
      const get = operations.get;
      if (!get) continue;
      const answer = await from(`192.0.2.${counted.length + others.length}`)(fill(path));
      const isLimited = answer.status !== 401 && answer.headers.has("x-ratelimit-limit");
      (isLimited ? counted : others).push(path);
      const needsNone = (get.security ?? [{}]).some((alternative) => Object.keys(alternative).length === 0);
      expect(needsNone, path).toBe(isLimited);
      expect(Object.keys(get.responses), path).toContain("429");
    }
    expect(counted.length).toBeGreaterThan(5);
    expect(others).toContain("/api/v1/auth/me");
  });

  test("a public read with a valid key counts for the key; with another key it counts for the address", async () => {
    const { headers } = await issueKey(from("198.51.100.12"), newWallet());
    const client = from("198.51.100.13");
    const limited = { PUBLIC: 5, KEY: Number(UNLIMITED) };
    const policy = `${productIdOf("FLASHBTC1H-001")}/1`;
    const paths = [`/policies/${policy}`, `/api/v1/policies/${policy}`, "/api/v1/live-stats"];
    for (const [index, path] of paths.entries()) {
      const answer = await client(path, { headers });
      expect(headerNumber(answer, "x-ratelimit-limit"), path).toBe(limited.KEY);
      expect(remaining(answer), path).toBe(limited.KEY - 1 - index);
    }
    for (const path of ["/health", "/products", "/api/v1/products"]) {
      expect(headerNumber(await client(path, { headers }), "x-ratelimit-limit"), path).toBe(limited.PUBLIC);
    }
    const [, , statistics = ""] = paths;
    const bearer = { authorization: `Bearer ${headers["x-api-key"]}` };
    expect(headerNumber(await client(statistics, { headers: bearer }), "x-ratelimit-limit")).toBe(
      limited.KEY,
    );
    const ignored = { "x-api-key": `lk_${"a".repeat(64)}`, authorization: "Bearer malformed" };
    for (const [name, value] of Object.entries(ignored)) {
      const answer = await client(statistics, { headers: { [name]: value } });
      expect([answer.status, headerNumber(answer, "x-ratelimit-limit")]).toEqual([200, limited.PUBLIC]);
    }
    expect(failure(await client(statistics))).toEqual([429, "rate_limit"]);
    expect((await client(statistics, { headers })).status).toBe(200);
  });

  test("free keys of one address share ten times the limit of public reads; a paid key has its own", async () => {
    const client = from("198.51.100.14");
    const keys = await Promise.all([1, 2, 3].map(() => issueKey(from("198.51.100.15"))));
    const read = (n: number) => client("/api/v1/live-stats", { headers: keys[n % 3]?.headers ?? {} });
    const answers = await Promise.all(Array.from({ length: 60 }, (_, n) => read(n)));
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(50);
    const refused = await read(0);
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    expect([headerNumber(refused, "x-ratelimit-limit"), remaining(refused)]).toEqual([50, 0]);
    const paid = await issueKey(from("198.51.100.15"), newWallet(), "paid");
    expect((await client("/api/v1/live-stats", paid)).status).toBe(200);
    expect((await client("/api/v1/auth/me", keys[0])).status).toBe(200);
    expect(await statuses(client, ["/api/v1/live-stats"])).toEqual(["200 4"]);
    expect((await from("198.51.100.16")("/api/v1/live-stats", keys[0])).status).toBe(200);
  });

  test("CORS exposes the rate limit headers, as all others, to other origins", async () => {
    const answer = await from("198.51.100.6")("/health", { headers: { origin: "https://example.org" } });
    expect(answer.headers.get("x-ratelimit-limit")).not.toBeNull();
    expect(answer.headers.get("access-control-expose-headers")).toBe("*");
  });

  test("above the limit of refused keys a bad key gets 429, but a good key and public reads get 200", async () => {
    const good = await issueKey(from("198.51.100.7"), wallet);
    const client = from("198.51.100.8");
    const me = "/api/v1/auth/me";
    const bad = { headers: { "x-api-key": `lk_${"a".repeat(64)}` } };
    expect((await client(me, good)).status).toBe(200);
    expect(await statuses(client, [me], bad)).toEqual(["401 2"]);
    expect(await statuses(client, [me])).toEqual(["401 1"]);
    expect((await client(me, good)).status).toBe(200);
    expect(await statuses(client, [me, me], bad)).toEqual(["401 0", "429 0"]);
    const refused = await client(me, bad);
    expect(failure(refused)).toEqual([429, "rate_limit"]);
    expect(headerNumber(refused, "retry-after")).toBe(headerNumber(refused, "x-ratelimit-reset"));
    expect((await client(me, good)).status).toBe(200);
    expect((await client("/health")).status).toBe(200);
  });

  test("refused admin tokens have the same limit, counted separately from keys", async () => {
    const client = from("198.51.100.10");
    const keys = "/api/v1/keys/generate";
    const bad = { headers: { "x-admin-token": "not the token" }, body: { wallet } };
    expect(await statuses(client, repeat(4, "/api/v1/auth/me"))).toContain("429 0");
    expect((await client(keys, { headers: admin, body: { wallet } })).status).toBe(201);
    const guesses = await Promise.all(repeat(9, keys).map((path) => client(path, bad)));
    expect(guesses.filter((a) => a.status === 401)).toHaveLength(3);
    expect(failure(await client(keys, { headers: admin, body: { wallet } }))).toEqual([429, "rate_limit"]);
  });

  test("indexed reads count whether they are cached, uncached or 304", async () => {
    await stack.start("indexer");
    let visitor = 0;
    const feed = "/api/v1/stats/activity";
    const indexedBlock = async () =>
      (await from(`192.0.2.${visitor++ % 250}`)(feed)).headers.get("x-indexed-block");
    // Each newly indexed block changes the tag.
    await expect.poll(indexedBlock).toBe(String(await chain.client.getBlockNumber()));
    const client = from("198.51.100.201");
    const tag = (await client(feed)).headers.get("etag") ?? "none";
    expect(await statuses(client, [feed, "/health"])).toEqual(["200 3", "200 2"]);
    expect(await statuses(client, [feed], { headers: { "if-none-match": tag } })).toEqual(["304 1"]);
    expect(await statuses(client, [`${feed}?limit=0`, feed, feed])).toEqual(["400 0", "429 0", "429 0"]);
    // The cached response is ahead of the app, which looks up keys.
    const other = from("198.51.100.202");
    const { headers } = await issueKey(other, newWallet());
    expect(headerNumber(await other(feed, { headers }), "x-ratelimit-limit")).toBe(Number(UNLIMITED));
    expect(await statuses(other, [feed])).toEqual(["200 4"]);
  });
});

test("without TRUST_PROXY the X-Forwarded-For header does not change the client", async () => {
  const stack = await startLimitedApi(chain, { TRUST_PROXY: "", PUBLIC_RATE_LIMIT: "30" });
  const from = await clientsOf(stack);
  const answers: HttpAnswer[] = [];
  for (let i = 0; i < 31; i += 1) answers.push(await from(`198.51.100.${i}`)("/health"));
  const left = answers.map(remaining);
  expect(left).toEqual(left.map((_, i) => Math.max(0, (left[0] ?? 0) - i)));
  expect(answers.at(-1)?.status).toBe(429);
});
