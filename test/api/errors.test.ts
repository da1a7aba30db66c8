import { beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { MAX_BODY_BYTES } from "../../api/http/request.ts";
import { http } from "../support/http.ts";
import { fetchOpenApi } from "../support/openapi.ts";
import { firstAnswer, sendBytes } from "../support/raw-http.ts";
import { admin, failure, issueKey, messageOf, startApi, type TestApi } from "./support/api.ts";

let api: TestApi;
beforeAll(async () => {
  api = await startApi();
});

const keys = "/api/v1/keys/generate";

describe("every error response has the Error schema", () => {
  test.each([
    ["/nothing/here", 404, "not_found"],
    ["/api/v1/policies/by-buyer", 404, "not_found"],
    ["/health//", 404, "not_found"],
    ["//health", 404, "not_found"],
    ["/%E0%A4%A", 400, "validation_error"],
    ["/policies/%zz/1", 400, "validation_error"],
    ["/products/0x12", 400, "validation_error"],
    [`/products/${"0x".padEnd(67, "a")}`, 400, "validation_error"],
    [`/products/${"0x".padEnd(66, "g")}`, 400, "validation_error"],
    ["/products/FLASHBTC1H-002", 400, "validation_error"],
    [`/products/${"0x".padEnd(66, "a")}`, 404, "invalid_product"],
    [`/products/${"0x".padEnd(66, "A")}/quote?coverageAmount=100000000`, 404, "invalid_product"],
    [`/policies/${"0x".padEnd(66, "a")}/1`, 404, "policy_not_found"],
    [`/policies/${"0x".padEnd(66, "a")}/-1`, 400, "validation_error"],
    [`/policies/${"0x".padEnd(66, "a")}/1e3`, 400, "validation_error"],
    [`/policies/${"0x".padEnd(66, "a")}/0x1`, 400, "validation_error"],
    [`/policies/${"0x".padEnd(66, "a")}/1%00`, 400, "validation_error"],
    [`/policies/${"0x".padEnd(66, "a")}/${2n ** 256n - 1n}`, 404, "policy_not_found"],
    [`/policies/${"0x".padEnd(66, "a")}/${2n ** 256n}`, 400, "validation_error"],
    [`/policies/${"0x".padEnd(66, "a")}/${"9".repeat(79)}`, 400, "validation_error"],
    ["/api/v1/policies/by-buyer/nobody", 400, "validation_error"],
    [`/api/v1/policies/by-buyer/0x${"1".repeat(41)}`, 400, "validation_error"],
    ["/api/v1/keys/abc", 405, "method_not_allowed"],
    ["/api/v1/purchases/7", 401, "unauthenticated"],
  ])("GET %s gets %i %s", async (path, status, code) => {
    const answer = await api.request(path);
    expect(failure(answer)).toEqual([status, code]);
    expect(answer.headers.get("cache-control")).toBe("no-store");
    expect(answer.headers.get("x-should-retry")).toBe("false");
  });

  test.each([
    "limit=0",
    "limit=101",
    "limit=-1",
    "limit=1e1",
    "limit=0x10",
    "limit=%205",
    "limit=",
    "offset=-1",
    "offset=x",
    `offset=${"9".repeat(30)}`,
  ])("a list with %s gets 400 validation_error", async (query) => {
    const answer = await api.request(`/api/v1/policies/by-buyer/${api.chain.owner.address}?${query}`);
    expect(failure(answer)).toEqual([400, "validation_error"]);
  });

  test.each([
    ["POST", "/health", "GET, HEAD"],
    ["PUT", "/products", "GET, HEAD"],
    ["DELETE", "/api/v1/policies", "GET, HEAD, POST"],
    ["GET", "/api/v1/agent/onboard", "POST"],
    ["POST", "/api/v1/agent/keys", "GET, HEAD"],
    ["PATCH", "/api/v1/keys/1", "DELETE"],
    ["POST", "/openapi.json", "GET, HEAD"],
    ["QUERY", "/health", "GET, HEAD"],
  ])("%s %s gets 405 with the allowed methods", async (method, path, allowed) => {
    const answer = await api.request(path, { method });
    expect(failure(answer)).toEqual([405, "method_not_allowed"]);
    expect(answer.headers.get("allow")).toBe(allowed);
  });

  test.each(['{"wallet":', "", "nonsense", '{"wallet":"0x"}}', "\u0000"])(
    "the body %j is not JSON and gets 400",
    async (rawBody) => {
      expect(failure(await api.request(keys, { method: "POST", headers: admin, rawBody }))).toEqual([
        400,
        "validation_error",
      ]);
    },
  );

  test.each([
    "null",
    "[]",
    "1",
    '"text"',
    "{}",
    '{"__proto__":{"wallet":"x"}}',
    '{"wallet":{"toString":1}}',
    "[".repeat(500) + "]".repeat(500),
    `[${"{},".repeat(20_000)}{}]`,
  ])("the body %j has the wrong shape and gets 400", async (rawBody) => {
    const answer = await api.request(keys, { method: "POST", headers: admin, rawBody });
    expect(failure(answer)).toEqual([400, "validation_error"]);
  });

  test("a body with 30,000 nested arrays gets 400", async () => {
    const rawBody = "[".repeat(30_000) + "]".repeat(30_000);
    const answer = await api.request(keys, { method: "POST", headers: admin, rawBody });
    expect(failure(answer)).toEqual([400, "validation_error"]);
  });

  test("a content type other than JSON gets 415", async () => {
    const request = {
      method: "POST",
      rawBody: "wallet=0x",
      headers: { ...admin, "content-type": "text/plain" },
    };
    expect(failure(await api.request(keys, request))).toEqual([415, "unsupported_media_type"]);
  });

  test("every route with a body takes application/json in any case and spacing, and no other type", async () => {
    const operation = z.object({ requestBody: z.unknown().optional() });
    const { paths } = z
      .object({ paths: z.record(z.string(), z.record(z.string(), operation)) })
      .parse((await api.request("/openapi.json")).json);
    const routes = Object.entries(paths).flatMap(([path, { post }]) => (post?.requestBody ? [path] : []));
    expect(routes.length).toBeGreaterThan(5);
    const { headers } = await issueKey(api.request, api.chain.owner.address);
    const statusOf = async (path: string, type: string) => {
      const request = {
        method: "POST",
        rawBody: "{}",
        headers: { ...headers, ...admin, "content-type": type },
      };
      return (await api.request(path.replace(/{\w+}/g, "1"), request)).status;
    };
    for (const path of routes) {
      for (const type of [
        "application/json ; charset=utf-8",
        "application/json\t;charset=utf-8",
        'Application/JSON; charset="utf-8"',
        "application/json;",
      ]) {
        expect(await statusOf(path, type), `${path} with ${type}`).not.toBe(415);
      }
      for (const type of [
        "text/plain ; x=application/json",
        "application/jsonp",
        "application/json, text/plain",
      ])
        expect(await statusOf(path, type), `${path} with ${type}`).toBe(415);
    }
  });

  test("a body of 64 KiB is read; one byte more gets 413", async () => {
    const body = (length: number) => `{"wallet":"${"x".repeat(length - 13)}"}`;
    const send = (length: number) =>
      api.request(keys, { method: "POST", headers: admin, rawBody: body(length) });
    expect(failure(await send(MAX_BODY_BYTES))).toEqual([400, "validation_error"]);
    expect(failure(await send(MAX_BODY_BYTES + 1))).toEqual([413, "payload_too_large"]);
  });

  test("a compressed body gets 415, and the encoding that is accepted", async () => {
    for (const encoding of ["gzip", "br", "gzip, identity"]) {
      const headers = { ...admin, "content-encoding": encoding };
      const answer = await api.request(keys, { method: "POST", headers, body: {} });
      expect(failure(answer)).toEqual([415, "unsupported_media_type"]);
      expect(answer.headers.get("accept-encoding")).toBe("identity");
    }
    const headers = { ...admin, "content-encoding": "identity" };
    expect(failure(await api.request(keys, { method: "POST", headers, body: {} }))[0]).toBe(400);
  });

  test("a body without Content-Length has the same size limit", async () => {
    const chunk = new Uint8Array(64 * 1024).fill(32);
    let left = (4 * MAX_BODY_BYTES) / chunk.length;
    const body = new ReadableStream({
      // The stream must end by itself: fetch keeps pulling after the server has closed the connection.
      pull(controller) {
        if (left === 0) controller.close();
        else controller.enqueue(chunk);
        left -= 1;
      },
    });
    const answer = await fetch(`${api.stack.apiUrl}${keys}`, {
      method: "POST",
      headers: { ...admin, "content-type": "application/json" },
      body,
      duplex: "half",
    }).catch((error: Error) => error);
    // The server may close the connection while the client still sends; a response, if any, must be 413.
    if (answer instanceof Response) expect(answer.status).toBe(413);
    expect((await api.request("/health")).status).toBe(200);
  });
});

test("a request that needs a credential is refused before its body is read", async () => {
  // Neither body ever ends.
  const start = (path: string) =>
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{ \r\n`;
  for (const [path, code] of [
    ["/api/v1/policies", "unauthenticated"],
    ["/nothing", "not_found"],
  ] as const) {
    expect(await firstAnswer(api.stack.apiUrl, start(path))).toContain(`"error":"${code}"`);
  }
});

describe("malformed HTTP requests", () => {
  test.each([
    ["NONSENSE\r\n\r\n", "HTTP/1.1 400", "validation_error"],
    [`GET /${"a".repeat(20_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, "HTTP/1.1 431", "headers_too_large"],
    [`GET / HTTP/1.1\r\nHost: x\r\nA: ${"a".repeat(20_000)}\r\n\r\n`, "HTTP/1.1 431", "headers_too_large"],
    [
      "GET ftp://x/health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n",
      "HTTP/1.1 400",
      "validation_error",
    ],
    ["GET http://x/nothing HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n", "HTTP/1.1 404", "not_found"],
  ])("%j gets %s %s", async (bytes, statusLine, code) => {
    const received = await sendBytes(api.stack.apiUrl, bytes);
    expect(received.startsWith(statusLine), received).toBe(true);
    expect(received).toContain(`"error":"${code}"`);
    expect(received).toMatch(/^x-request-id: [\w-]{36}\r$/im);
    expect(received).toMatch(/^x-content-type-options: nosniff\r$/im);
    expect(received).toMatch(/^access-control-allow-origin: \*\r$/im);
  });

  test.each([
    ["HTTP/1.1", "no Host", []],
    ["HTTP/1.1", "two Hosts", ["a.example", "b.example"]],
    ["HTTP/1.1", "the same Host twice", ["a.example", "a.example"]],
    ["HTTP/1.0", "two Hosts", ["a.example", "b.example"]],
    ...["", "a b", "user@a.example", "a.example/x", "a.example:99999", "127.1", "[::1", "<script>"].map(
      (host): [string, string, string[]] => ["HTTP/1.1", `the Host ${JSON.stringify(host)}`, [host]],
    ),
  ])("an %s request with %s gets 400 with the headers of every response", async (version, _, hosts) => {
    const lines = hosts.map((host) => `Host: ${host}\r\n`).join("");
    const request = `GET /health ${version}\r\n${lines}x-request-id: abc-123\r\nConnection: close\r\n\r\n`;
    const received = await sendBytes(api.stack.apiUrl, request);
    expect(received).toMatch(/^HTTP\/1.1 400/);
    expect(received).toContain('"path":"Host"');
    expect(received).toMatch(/^x-request-id: abc-123\r$/im);
    expect(received).toMatch(/^access-control-allow-origin: \*\r$/im);
    expect(received).toMatch(/^x-ratelimit-remaining: \d+\r$/im);
  });

  test.each([
    "a.example",
    "A.example:8080",
    "a.example:80",
    "127.0.0.1",
    "[::1]:8080",

    "a_b.example.",
  ])("the Host %s gets 200", async (host) => {
    const request = `GET /health HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`;
    expect(await sendBytes(api.stack.apiUrl, request)).toMatch(/^HTTP\/1.1 200/);
  });

  test("an HTTP/1.0 request without Host gets 200", async () => {
    expect(await sendBytes(api.stack.apiUrl, "GET /health HTTP/1.0\r\n\r\n")).toMatch(/^HTTP\/1.1 200/);
  });
});

describe("HEAD and OPTIONS", () => {
  test("HEAD responds as GET without a body", async () => {
    const answer = await api.request("/health", { method: "HEAD" });
    expect([answer.status, answer.text]).toEqual([200, ""]);
    expect((await api.request("/nothing", { method: "HEAD" })).status).toBe(404);
  });

  test("CORS lets any origin read and send an API key, but no admin token", async () => {
    const headers = {
      origin: "https://example.org",
      "access-control-request-method": "POST",
      "access-control-request-headers": "x-api-key",
    };
    const answer = await api.request("/api/v1/policies", { method: "OPTIONS", headers });
    expect(answer.status).toBe(204);
    expect(answer.headers.get("access-control-allow-origin")).toBe("*");
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("x-api-key");
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).toContain("authorization");
    expect(answer.headers.get("access-control-allow-headers")?.toLowerCase()).not.toContain("x-admin-token");
    const read = await api.request("/products", { headers: { origin: "https://example.org" } });
    expect(read.headers.get("access-control-allow-origin")).toBe("*");
  });
});

test("an address with a slash at its end is the same address", async () => {
  const { paths } = await fetchOpenApi(api.stack.apiUrl);
  const answerAt = async (path: string) => {
    const { status, headers } = await http(`${api.stack.apiUrl}${path}`);
    return [path.replace(/\/$/, ""), status, headers.get("content-type"), headers.get("x-ratelimit-limit")];
  };
  const addresses = Object.entries(paths).filter(([path, { get }]) => get && path !== "/");
  for (const path of [...addresses.map(([path]) => path.replace(/\{\w+\}/g, "1")), "/docs/buying.md"]) {
    expect(await answerAt(`${path}/`)).toEqual(await answerAt(path));
  }
  const wrong = await http(`${api.stack.apiUrl}/products/`, { method: "DELETE" });
  expect([wrong.status, wrong.headers.get("allow")]).toEqual([405, "GET, HEAD"]);
});

test("each response has a request id: the caller's if it is valid, else a new one", async () => {
  const own = await api.request("/health", { headers: { "x-request-id": "abc-123" } });
  expect(own.headers.get("x-request-id")).toBe("abc-123");
  const bad = await api.request("/health", { headers: { "x-request-id": "a b;c".repeat(50) } });
  expect(bad.headers.get("x-request-id")).toMatch(/^[\w-]{36}$/);
});

test("an error message does not repeat a 5,000-character path", async () => {
  const answer = await api.request(`/${"x".repeat(5000)}`);
  expect(messageOf(answer).length).toBeLessThan(300);
});
