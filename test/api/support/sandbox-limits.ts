/**
 * A client address has ten sandbox calls per hour over all processes; the eleventh gets 403. The processes count as they count the
 * requests of keys: key-rate-limit-processes.test.ts has that with Redis too.
 */
import { randomUUID } from "node:crypto";
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HttpAnswer } from "../../support/http.ts";
import { type Stack, startStack } from "../../support/stack.ts";
import { failure } from "./api.ts";
import { type Client, clientsOf, headerNumber, remaining } from "./rate-limits.ts";
import { boughtOf, callOf, type TestSandbox } from "./sandbox.ts";

const PATH = "/sandbox/try";

const call = (client: Client, headers: Record<string, string> = {}, body?: unknown): Promise<HttpAnswer> =>
  client(PATH, callOf(body, headers));

function expectRefused(answer: HttpAnswer): void {
  expect(failure(answer)).toEqual([403, "sandbox_cap_exceeded"]);
  expect([headerNumber(answer, "x-ratelimit-limit"), remaining(answer)]).toEqual([10, 0]);
  const wait = headerNumber(answer, "retry-after");
  expect(wait).toBe(headerNumber(answer, "x-ratelimit-reset"));
  expect(wait).toBeGreaterThan(3500);
  expect(wait).toBeLessThanOrEqual(3600);
}

/** The first tests of their sandbox: one of them counts the calls of this machine's address. */
export function sandboxLimits(sandbox: () => TestSandbox): void {
  let first: Stack;
  let second: Stack;
  beforeAll(async () => {
    const { main: chain, testnet, stack } = sandbox();
    const env = { api: { SANDBOX_RATE_LIMIT: "", TRUST_PROXY: "loopback" } };
    const options = { chain, testnet, databaseUrl: stack.databaseUrl, services: ["api"], env } as const;
    [first, second] = await Promise.all([startStack(options), startStack(options)]);
  });
  afterAll(() => Promise.all([first.stop(), second.stop()]));

  test("both processes refuse the eleventh call, and still return policies already bought", async () => {
    const [here, there] = [await clientsOf(first), await clientsOf(second)];
    const [one, other] = [here("198.51.100.1"), there("198.51.100.1")];
    const key = { "idempotency-key": randomUUID() };
    const bought = await call(one, key);
    expect([bought.status, remaining(bought), headerNumber(bought, "x-ratelimit-limit")]).toEqual([
      200, 9, 10,
    ]);
    // Not counted: repeated calls at either process, conflicts and invalid calls.
    const again = await call(other, key);
    expect([boughtOf(again).txHash, remaining(again)]).toEqual([boughtOf(bought).txHash, 9]);
    expect(remaining(await call(other, key, { productName: "FLASHETH1H-001" }))).toBe(9);
    expect(remaining(await call(one, {}, { productName: "nothing" }))).toBe(9);
    expect(remaining(await call(one, {}, { productId: 7 }))).toBe(9);
    expect(remaining(await call(one, {}, { productId: `0x${"00".repeat(32)}` }))).toBe(9);
    expect(headerNumber(await one("/sandbox/info"), "x-ratelimit-limit")).toBe(1_000_000_000);

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

  test("more than ten calls with one Idempotency-Key all get the same policy", async () => {
    const client = (await clientsOf(first))("198.51.100.31");
    const key = { "idempotency-key": randomUUID() };
    const answers = await Promise.all(Array.from({ length: 9 }, () => call(client, key)));
    answers.push(...(await Promise.all(Array.from({ length: 6 }, () => call(client, key)))));
    expect(new Set(answers.map((answer) => boughtOf(answer).txHash)).size).toBe(1);
  });

  test("an IPv6 /64 is one client, and addresses that the client itself puts into headers are ignored", async () => {
    const here = await clientsOf(first);
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

  test("two clients with the same Idempotency-Key get separate policies", async () => {
    const here = await clientsOf(first);
    const key = { "idempotency-key": randomUUID() };
    const mine = boughtOf(await call(here("198.51.100.11"), key, { productName: "FLASHBTC24-001" }));
    const theirs = boughtOf(await call(here("198.51.100.12"), key, { productName: "FLASHETH24-001" }));
    expect(theirs.txHash).not.toBe(mine.txHash);
  });

  test("without TRUST_PROXY the X-Forwarded-For header does not change the client", async () => {
    const { main: chain, testnet, stack } = sandbox();
    const env = { api: { SANDBOX_RATE_LIMIT: "2" } };
    const { databaseUrl } = stack;
    const alone = await startStack({ chain, testnet, databaseUrl, services: ["api"], env });
    const here = await clientsOf(alone);
    expect(remaining(await call(here("198.51.100.21")))).toBe(1);
    expect(remaining(await call(here("198.51.100.22")))).toBe(0);
    expect(failure(await call(here("198.51.100.23")))).toEqual([403, "sandbox_cap_exceeded"]);
    await alone.stop();
  });
}
