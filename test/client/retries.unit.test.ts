/** Which calls the client sends again, when, and what its hooks see. */
import { getEventListeners } from "node:events";
import type { IncomingMessage, ServerResponse } from "node:http";
import { describe, expect, test } from "vitest";
import { hasEffectEachTime, shouldRetry } from "../../api/http/should-retry.ts";
import {
  ApiError,
  type Connection,
  ConnectionError,
  createClient,
  type ReceivedResponse,
} from "../../client/index.ts";
import { mayRepeat, specifiedRetries, waitBeforeRetry } from "../../client/retries.ts";
import { errorStatus } from "../../lib/errors.ts";
import { json, type Reply, serve } from "./support/replies.ts";

const failure = (code: keyof typeof errorStatus, headers: Record<string, string> = {}): Reply =>
  json(errorStatus[code], { error: code, code, message: `It is ${code}.`, details: null }, headers);
const lost: Reply = (request) => request.socket.destroy();
const cut: Reply = (_, response) => {
  response.writeHead(200, { "content-type": "application/json", "content-length": "1000" });
  response.write('{"ok":');
  setImmediate(() => response.socket?.destroy());
};
/** Cut off where the end of the connection is the end of the answer, as of old proxies. */
const cutUnnoticed: Reply = (_, response) => {
  response.socket?.end(
    'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n{"ok":',
  );
};
const silent: Reply = () => {};
const success = json(200, { ok: true, keyId: 7 });

const soon = { delaysMs: [1, 1, 1, 1, 1, 1], longestWaitMs: 60_000 };
const me = "/api/v1/auth/me";
const order = { productName: "FLASHBTC24-001", coverageAmount: "1000000000", buyer: `0x${"1".repeat(40)}` };

const clientAt = (baseUrl: string, more: Partial<Connection> = {}) =>
  createClient({ baseUrl, retries: soon, ...more });

describe("a call is sent again", () => {
  test.each([
    ["its answer is lost", lost],
    ["its answer is cut off", cut],
    ["its answer is cut off and nothing shows it but its JSON", cutUnnoticed],
    ["the database is away", failure("database_unavailable")],
    ["the chain's node is away", failure("chain_not_found")],
    ["the rate limit is used up", failure("rate_limit", { "retry-after": "0" })],
    [
      "a proxy answers for the API",
      (_: IncomingMessage, response: ServerResponse) => response.writeHead(502).end("<html>"),
    ],
  ])("when %s", async (_, fault) => {
    const { baseUrl, seen } = await serve(fault, fault, success);
    expect(await clientAt(baseUrl).get(me)).toEqual({ ok: true, keyId: 7 });
    expect(seen).toHaveLength(3);
  });

  test("six times at most, then its last error is thrown", async () => {
    const { baseUrl, seen } = await serve(failure("database_unavailable"));
    const error = await clientAt(baseUrl)
      .get(me)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ code: "database_unavailable", status: 503, retryable: true });
    expect(seen).toHaveLength(7);
  });

  test("when no answer comes in time", async () => {
    const { baseUrl, seen } = await serve(silent, success);
    expect(await clientAt(baseUrl).get(me, { timeoutMs: 300 })).toEqual({ ok: true, keyId: 7 });
    expect(seen.length).toBeGreaterThan(1);
  });

  test("with the same Idempotency-Key, which its error names", async () => {
    const { baseUrl, seen } = await serve(lost);
    const request = { body: order, headers: { "idempotency-key": "one" } };
    const error = await clientAt(baseUrl)
      .post("/api/v1/policies", request)
      .catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(ConnectionError);
    expect(error).toMatchObject({ retryable: true, idempotencyKey: "one" });
    expect(seen.map(({ headers }) => headers["idempotency-key"])).toEqual(Array(7).fill("one"));
  });
});

describe("a call is not sent again", () => {
  test.each([
    ["onchain_revert", failure("onchain_revert")],
    ["validation_error", failure("validation_error")],
    ["unauthenticated", failure("unauthenticated")],
    ["idempotency_conflict", failure("idempotency_conflict")],
    ["sandbox_disabled, which says so", failure("sandbox_disabled", { "x-should-retry": "false" })],
    ["rate_limit of a day", failure("rate_limit", { "retry-after": "86400" })],
  ])("after %s", async (_, reply) => {
    const { baseUrl, seen } = await serve(reply);
    await expect(clientAt(baseUrl).get(me)).rejects.toBeInstanceOf(ApiError);
    expect(seen).toHaveLength(1);
  });

  test("when each call has an effect of its own and its answer is lost", async () => {
    const { baseUrl, seen } = await serve(lost);
    const body = { url: "https://example.com/hook", events: "*" as const };
    const error = await clientAt(baseUrl)
      .post("/api/v1/webhooks", { body })
      .catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ name: "ConnectionError", retryable: false });
    expect(seen).toHaveLength(1);
  });

  test("when no header can carry its Idempotency-Key", async () => {
    const { baseUrl, seen } = await serve(success);
    const request = { body: order, headers: { "idempotency-key": "order → 5" } };
    await expect(clientAt(baseUrl).post("/api/v1/policies", request)).rejects.toBeInstanceOf(TypeError);
    expect(seen).toHaveLength(0);
  });

  test("when somebody else has answered with a page, and the error names the Idempotency-Key", async () => {
    const { baseUrl, seen } = await serve((_, response) =>
      response.writeHead(200, { "content-type": "text/html" }).end("<html>"),
    );
    const request = { body: order, headers: { "idempotency-key": "one" } };
    const buying = clientAt(baseUrl).post("/api/v1/policies", request);
    const expected = { name: "ConnectionError", retryable: false, idempotencyKey: "one" };
    await expect(buying).rejects.toMatchObject(expected);
    expect(seen).toHaveLength(1);
  });

  test("by a client without retries", async () => {
    const { baseUrl, seen } = await serve(lost);
    await expect(createClient({ baseUrl }).get(me)).rejects.toBeInstanceOf(ConnectionError);
    expect(seen).toHaveLength(1);
  });

  test("when it is aborted, also while it waits to be sent again", async () => {
    const { baseUrl, seen } = await serve(failure("database_unavailable", { "retry-after": "30" }));
    const stop = new AbortController();
    const onResponse = () => stop.abort(new Error("enough"));
    await expect(clientAt(baseUrl, { onResponse }).get(me, { signal: stop.signal })).rejects.toThrow(
      "enough",
    );
    expect(seen).toHaveLength(1);
  });

  test("when it is aborted while its answer is awaited, and a signal that lives on keeps nothing of calls that ended", async () => {
    const { baseUrl } = await serve(success, failure("database_unavailable"), success, silent);
    const stop = new AbortController();
    const { signal } = stop;
    for (let n = 0; n < 2; n += 1) await clientAt(baseUrl).get(me, { signal });
    expect(getEventListeners(signal, "abort")).toEqual([]);
    // Where Node keeps the signals that `AbortSignal.any` has made of it.
    const kept = Object.getOwnPropertySymbols(signal).map((name): unknown => Reflect.get(signal, name));
    expect(kept.filter((value) => value instanceof Set && value.size > 0)).toEqual([]);
    const call = clientAt(baseUrl, { onRequest: () => setImmediate(() => stop.abort(new Error("enough"))) });
    await expect(call.get(me, { signal })).rejects.toThrow("enough");
  });

  test("to where a redirect leads, with its key", async () => {
    const other = await serve(success);
    const { baseUrl } = await serve((_, response) =>
      response.writeHead(307, { location: `${other.baseUrl}${me}` }).end(),
    );
    const headers = { "x-api-key": "lk_secret" };
    await expect(createClient({ baseUrl, headers }).get(me)).rejects.toBeInstanceOf(ConnectionError);
    expect(other.seen).toHaveLength(0);
  });
});

describe("the wait before a retry", () => {
  const busy = new ConnectionError("No answer came.");
  const asking = (seconds: number) => new ConnectionError("Busy.", { retryAfterSeconds: seconds });

  test("is 1, 2, 4, 8, 16 and 32 seconds, and a quarter more at most", () => {
    const waits = (random: number) =>
      Array.from({ length: 7 }, (_, count) => waitBeforeRetry(busy, count, specifiedRetries, random));
    expect(waits(0)).toEqual([1000, 2000, 4000, 8000, 16_000, 32_000, undefined]);
    expect(waits(1)).toEqual([1250, 2500, 5000, 10_000, 20_000, 40_000, undefined]);
  });

  test("is never shorter than Retry-After, and no call waits longer than the policy allows", () => {
    expect(waitBeforeRetry(asking(30), 0, specifiedRetries, 0)).toBe(30_000);
    expect(waitBeforeRetry(asking(3), 3, specifiedRetries, 0)).toBe(8000);
    expect(waitBeforeRetry(asking(61), 0, specifiedRetries, 0)).toBeUndefined();
  });
});

test("hooks see each attempt and its end, and may throw", async () => {
  const { baseUrl } = await serve(failure("database_unavailable"), lost, success);
  const [sent, received]: [number[], ReceivedResponse[]] = [[], []];
  const client = clientAt(baseUrl, {
    onRequest({ attempt }) {
      sent.push(attempt);
      throw new Error("the log is full");
    },
    onResponse(response) {
      received.push(response);
      throw new Error("the log is full");
    },
  });
  await client.get(me);
  expect(sent).toEqual([1, 2, 3]);
  expect(
    received.map(({ status, error, retryInMs }) => [status, error?.name, retryInMs !== undefined]),
  ).toEqual([
    [503, "ApiError", true],
    [undefined, "ConnectionError", true],
    [200, undefined, false],
  ]);
  expect(received[0]).toMatchObject({ method: "GET", url: baseUrl + me, attempt: 1 });
});

describe("the API's mark", () => {
  const call = { method: "POST", path: "/api/v1/policies" };
  test("forbids what would fail again, and only a repetition of what has an effect each time", () => {
    const forbidden = (path = call.path): string[] =>
      Object.entries(errorStatus)
        .filter(([, status]) => status >= 500 || status === 429)
        .filter(([code, status]) => !shouldRetry({ code, status }, { ...call, path }))
        .map(([code]) => code);
    const lasting = [
      "health_contracts_incomplete",
      "onchain_revert",
      "contract_mismatch",
      "faucet_disabled",
      "oracle_signer_disabled",
      "sandbox_disabled",
      "test_pending",
    ];
    expect(forbidden().sort()).toEqual(lasting.sort());
    expect(forbidden("/api/v1/webhooks").sort()).toEqual(
      [...lasting, "database_unavailable", "internal_error"].sort(),
    );
  });

  test.each([
    "keys/generate",
    "webhooks",
    "webhooks/7/rotate-secret",
    "webhooks/7/test",
    "webhooks/7/retry",
    "policies",
    "redeem",
    "faucet/claim",
  ])("agrees with the client about a lost answer of POST /api/v1/%s", (path) => {
    expect(mayRepeat("POST", `/api/v1/${path}`, "a key")).toBe(!hasEffectEachTime.test(`/api/v1/${path}`));
  });

  test.each(["/api/v1/policies", "/sandbox/try"])("repeats %s with an Idempotency-Key only", (path) => {
    expect([mayRepeat("POST", path), mayRepeat("POST", path, "a key")]).toEqual([false, true]);
    expect(mayRepeat("GET", path)).toBe(true);
  });
});
