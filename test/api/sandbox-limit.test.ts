/** Ten calls an hour of one client address, however it calls itself, over all processes; the eleventh is 403. */
import { randomUUID } from "node:crypto";
import { beforeAll, describe, expect, test } from "vitest";
import type { HttpAnswer } from "../support/http.ts";
import { describeWithRedis, freshRedis } from "../support/redis.ts";
import type { Stack } from "../support/stack.ts";
import { startStack } from "../support/stack.ts";
import { failure } from "./support/api.ts";
import { type Client, clients, numberOf, remaining } from "./support/limited.ts";
import { boughtOf, callOf, startSandbox, type TestSandbox } from "./support/sandbox.ts";

const PATH = "/sandbox/try";

let first: TestSandbox;
let second: Stack;
/** Opens both processes; the first test of each kind of server does. */
async function open(redisUrl?: string) {
  const redis: Record<string, string> = redisUrl === undefined ? {} : { REDIS_URL: redisUrl };
  const env = { api: { SANDBOX_RATE_LIMIT: "", TRUST_PROXY: "loopback", ...redis }, writer: redis };
  first = await startSandbox({ env });
  const { main: chain, testnet, stack } = first;
  second = await startStack({ chain, testnet, databaseUrl: stack.databaseUrl, services: ["api"], env });
  await first.until();
}

const call = (client: Client, headers: Record<string, string> = {}, body?: unknown): Promise<HttpAnswer> =>
  client(PATH, callOf(body, headers));

function expectRefused(answer: HttpAnswer): void {
  expect(failure(answer)).toEqual([403, "sandbox_cap_exceeded"]);
  expect([numberOf(answer, "x-ratelimit-limit"), remaining(answer)]).toEqual([10, 0]);
  const wait = numberOf(answer, "retry-after");
  expect(wait).toBe(numberOf(answer, "x-ratelimit-reset"));
  expect(wait).toBeGreaterThan(3500);
  expect(wait).toBeLessThanOrEqual(3600);
}

function limits(): void {
  test("the eleventh call is refused by both processes, and what was bought can still be asked for", async () => {
    const [here, there] = [await clients(first.stack), await clients(second)];
    const [one, other] = [here("198.51.100.1"), there("198.51.100.1")];
    const key = { "idempotency-key": randomUUID() };
    const bought = await call(one, key);
    expect([bought.status, remaining(bought), numberOf(bought, "x-ratelimit-limit")]).toEqual([200, 9, 10]);
    // Not counted: a repetition, anywhere, and what is no call.
    const again = await call(other, key);
    expect([boughtOf(again).txHash, remaining(again)]).toEqual([boughtOf(bought).txHash, 9]);
    expect(remaining(await call(other, key, { productName: "FLASHETH1H-001" }))).toBe(9);
    expect(remaining(await call(one, {}, { productName: "nothing" }))).toBe(9);
    expect(remaining(await call(one, {}, { productId: 7 }))).toBe(9);
    expect(remaining(await call(one, {}, { productId: `0x${"00".repeat(32)}` }))).toBe(9);
    expect(numberOf(await one("/sandbox/info"), "x-ratelimit-limit")).toBe(1_000_000_000);

    const rest = await Promise.all(
      Array.from({ length: 14 }, (_, index) => call(index % 2 === 0 ? one : other)),
    );
    expect(rest.filter(({ status }) => status === 200)).toHaveLength(9);
    for (const answer of rest.filter(({ status }) => status !== 200)) expectRefused(answer);
    for (const client of [one, other]) {
      expectRefused(await call(client));
      expectRefused(await call(client, { "idempotency-key": randomUUID() }));
      expect(boughtOf(await call(client, key)).txHash).toBe(boughtOf(bought).txHash);
      expect(failure(await call(client, {}, { productId: 7 }))).toEqual([400, "validation_error"]);
    }
    expect(remaining(await call(there("198.51.100.2")))).toBe(9);
  });

  test("calls at once under one key may be more than ten: all of them get the one policy", async () => {
    const client = (await clients(first.stack))("198.51.100.31");
    const key = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(Array.from({ length: 9 }, () => call(client, key)));
    answers.push(...(await Promise.all(Array.from({ length: 6 }, () => call(client, key)))));
    expect(new Set(answers.map((answer) => boughtOf(answer).txHash)).size).toBe(1);
  });

  test("an IPv6 client is its /64, and what a client says of itself ahead of the proxy is not heard", async () => {
    const here = await clients(first.stack);
    const within64 = (n: number) => here(`2001:db8:7:1::${n.toString(16)}`);
    const answers = [];
    for (let n = 1; n <= 10; n += 1) answers.push(await call(within64(n)));
    expect(answers.map(remaining)).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
    for (const address of [
      "2001:db8:7:1:ffff::",
      "203.0.113.7, 2001:db8:7:1::99",
      "[2001:db8:7:1::1]:443",
      "::1, 2001:DB8:7:1::8",
    ]) {
      const forged = {
        "x-real-ip": "203.0.113.8",
        forwarded: "for=203.0.113.9",
        "cf-connecting-ip": "203.0.113.9",
      };
      expectRefused(await call(here(address), forged));
    }
    expect(remaining(await call(here("2001:db8:7:2::1")))).toBe(9);
  });

  test("one client's key is nothing to another", async () => {
    const here = await clients(first.stack);
    const key = { "idempotency-key": randomUUID() };
    const mine = boughtOf(await call(here("198.51.100.11"), key, { productName: "FLASHBTC24-001" }));
    const theirs = boughtOf(await call(here("198.51.100.12"), key, { productName: "FLASHETH24-001" }));
    expect(theirs.txHash).not.toBe(mine.txHash);
  });
}

describe("on Postgres", () => {
  beforeAll(() => open());
  limits();

  test("without a proxy that is trusted, no header makes another client of the same one", async () => {
    const { main: chain, testnet, stack } = first;
    const env = { api: { SANDBOX_RATE_LIMIT: "2" } };
    const alone = await startStack({
      chain,
      testnet,
      databaseUrl: stack.databaseUrl,
      services: ["api"],
      env,
    });
    const here = await clients(alone);
    expect(remaining(await call(here("198.51.100.21")))).toBe(1);
    expect(remaining(await call(here("198.51.100.22")))).toBe(0);
    expect(failure(await call(here("198.51.100.23")))).toEqual([403, "sandbox_cap_exceeded"]);
  });
});

describeWithRedis("with Redis", () => {
  beforeAll(async () => open((await freshRedis()).url));
  limits();
});
