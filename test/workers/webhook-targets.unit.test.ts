/**
 * What this proves: no call reaches a target that the guard refuses, also when DNS changes; and each call is bounded in time
 * and size, whatever the receiver does.
 */
import { createServer as createTlsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { LOOPBACK_HOSTS } from "../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, ResolverUnavailable } from "../../lib/webhooks/target-guard.ts";
import {
  type CallResult,
  createReceiverClient,
  type ReceiverClient,
} from "../../workers/webhooks/receiver-client.ts";
import { hostileTargets, resolveNames } from "../lib/webhooks/targets.ts";
import { atEnd } from "../support/cleanup.ts";
import {
  endlessBody,
  gzipBomb,
  hang,
  type Receivers,
  reset,
  slowHeaders,
  startReceivers,
  status,
} from "../support/receiver.ts";

/** The time limit of calls to receivers that never answer, in ms. */
const BRIEF_MS = 500;
/** The time limit of the other calls, in ms: a busy machine answers well within it. */
const PATIENT_MS = 100_000;

/** The key of a self-signed certificate for localhost, used in this test alone. */
const KEY = [
  "MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgXWky1AIe3zEfNDsW",
  "zjsPKNxSnU2o67wwhQE92eHp06KhRANCAAQL8DIZ5Gt6407Gy8K64lHr+iwtX/1i",
  "MUp7bZmaEoGlZ1qkEUt3HO9uxVue5ezwLu3t9oa6P5Pol9tY9JxLdkBR",
].join("\n");
const CERTIFICATE = [
  "MIIBmzCCAUGgAwIBAgIUU4RkuAQYWGJZGuSe2YviSYhBqLAwCgYIKoZIzj0EAwIw",
  "FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTEyMTE5MjM0OFoYDzIxMjYxMDI4",
  "MTkyMzQ4WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO",
  "PQMBBwNCAAQL8DIZ5Gt6407Gy8K64lHr+iwtX/1iMUp7bZmaEoGlZ1qkEUt3HO9u",
  "xVue5ezwLu3t9oa6P5Pol9tY9JxLdkBRo28wbTAdBgNVHQ4EFgQUd1RGcLFIyKLw",
  "LlMe1TLAwpBXP9AwHwYDVR0jBBgwFoAUd1RGcLFIyKLwLlMe1TLAwpBXP9AwDwYD",
  "VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI",
  "zj0EAwIDSAAwRQIgFvTx2hJP/aKEWm8HVRO9UPWIQ9183aWmWmq4E73e6bMCIQDu",
  "VWZGuSm3IZlsns4TbsHWsbmKG45EuTf1KYy1pO4mmQ==",
].join("\n");
const pem = (name: string, base64: string) => `-----BEGIN ${name}-----\n${base64}\n-----END ${name}-----\n`;

function clientWith(
  options: Partial<Parameters<typeof createTargetGuard>[0]>,
  limitMs = PATIENT_MS,
): ReceiverClient {
  const guard = createTargetGuard({ allow: [], resolve: resolveNames, ...options });
  const client = createReceiverClient(guard, 64, { answerMs: limitMs, staleMs: limitMs });
  atEnd(() => client.close());
  return client;
}

async function post(client: ReceiverClient, url: string): Promise<CallResult> {
  const result = await client.post({ url, body: '{"id":"evt_1"}', headers: { "webhook-id": "evt_1" } });
  if (!result) throw new Error("the call was aborted");
  return result;
}

describe("targets", () => {
  const client = clientWith({});

  test.each(hostileTargets)("%s: %s", async (target, reason) => {
    const { attempt } = await post(client, target);
    expect(attempt).toMatchObject({ outcome: "target_refused", status: null, response: null });
    expect(attempt.error).toContain(reason);
  });

  test("a name that is public at creation and private at the call is refused", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    const resolve = async () => answers.shift() ?? [];
    const guard = createTargetGuard({ allow: [], resolve });
    expect(await guard.check("https://changing.example.com/")).toMatchObject({ ok: true });
    const { attempt } = await post(clientWith({ resolve }), "https://changing.example.com/");
    expect(attempt.outcome).toBe("target_refused");
  });

  test("unavailable name servers count as a failed connection, within the time limit", async () => {
    const offline = clientWith({ resolve: () => Promise.reject(new ResolverUnavailable("no answer")) });
    expect((await post(offline, "https://public.example.com/")).attempt).toMatchObject({
      outcome: "connection_failed",
      error: "no answer",
    });
    const silent = clientWith({ resolve: () => new Promise(() => {}) }, BRIEF_MS);
    const { attempt } = await post(silent, "https://public.example.com/");
    expect(attempt.outcome).toBe("timeout");
  });

  test("an error message is cut to a valid string of 200 characters", async () => {
    const wordy = clientWith({ resolve: () => Promise.reject(new Error(`${"x".repeat(199)}😀 and more`)) });
    const { error } = (await post(wordy, "https://public.example.com/")).attempt;
    expect(error).toBe(`${"x".repeat(199)}\uFFFD`);
  });

  test("a listening address of this machine is refused unless allowed", async () => {
    const receivers = await startReceivers();
    const receiver = receivers.at("inside");
    expect((await post(client, receiver.url)).attempt.outcome).toBe("target_refused");
    const port = new URL(receiver.url).port;
    const elsewhere = clientWith({ allow: [{ host: "127.0.0.1", port: Number(port) + 1 }] });
    expect((await post(elsewhere, receiver.url)).attempt.outcome).toBe("target_refused");
    expect(receiver.requests).toEqual([]);
  });
});

describe("hostile or broken receivers", () => {
  const client = clientWith({ allow: LOOPBACK_HOSTS });
  const briefClient = clientWith({ allow: LOOPBACK_HOSTS }, BRIEF_MS);
  let receivers: Receivers;
  beforeAll(async () => {
    receivers = await startReceivers();
  });

  /** Starts a TCP server that calls `serve` for each request. */
  async function rawServer(serve: (socket: Socket, connection: number) => void): Promise<string> {
    let connections = 0;
    const server = createServer((socket) => {
      const connection = connections++;
      socket.on("error", () => {});
      socket.on("data", () => serve(socket, connection));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atEnd(async () => void server.close());
    const address = server.address();
    return `http://127.0.0.1:${address && typeof address === "object" ? address.port : 0}/`;
  }

  test("a redirect is a failure and is not followed", async () => {
    const [door, inside] = [receivers.at("door"), receivers.at("inside")];
    for (const code of [301, 302, 303, 307, 308]) {
      door.behave(status(code, { location: inside.url }));
      const { attempt } = await post(client, door.url);
      expect(attempt).toMatchObject({ outcome: "refused", status: code });
      expect(attempt.error).toContain("redirects are not followed");
    }
    expect(inside.requests).toEqual([]);
  });

  test.each([
    ["says nothing", hang],
    ["sends header after header", slowHeaders(50)],
  ])("a receiver that %s", async (name, reply) => {
    const receiver = receivers.at(name.replaceAll(" ", "-"));
    receiver.behave(reply);
    const { attempt } = await post(briefClient, receiver.url);
    expect(attempt).toMatchObject({ outcome: "timeout", status: null });
    expect(attempt.durationMs).toBeGreaterThanOrEqual(BRIEF_MS - 50);
    if (reply === hang) await expect.poll(receiver.underWay).toBe(0);
  });

  test("a receiver that sends informational responses without end", async () => {
    const url = await rawServer((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    const { attempt } = await post(briefClient, url);
    expect(attempt).toMatchObject({ outcome: "timeout", status: null });
  });

  test("an endless body is cut, and the status decides", async () => {
    const receiver = receivers.at("endless");
    for (const [code, outcome] of [
      [200, "delivered"],
      [500, "refused"],
    ] as const) {
      receiver.behave(endlessBody(code));
      const all = await Promise.all(Array.from({ length: 10 }, () => post(client, receiver.url)));
      for (const { attempt } of all) {
        expect(attempt).toMatchObject({ outcome, status: code, response: "x".repeat(2048) });
      }
    }
    await expect.poll(receiver.underWay).toBe(0);
  });

  test("a compressed body is not decompressed", async () => {
    const receiver = receivers.at("bomb");
    receiver.behave(gzipBomb());
    const { attempt } = await post(client, receiver.url);
    expect(attempt).toMatchObject({ outcome: "delivered", status: 200, response: "(compressed with gzip)" });
    expect(attempt.durationMs).toBeLessThan(PATIENT_MS);
  });

  test("an incomplete body is awaited for one second", async () => {
    const url = await rawServer((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthe beginning"),
    );
    const { attempt } = await post(client, url);
    expect(attempt).toMatchObject({ outcome: "delivered", response: "the beginning" });
    expect(attempt.durationMs).toBeLessThan(PATIENT_MS);
  });

  test("headers of a megabyte", async () => {
    const url = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${"x-much: of-this\r\n".repeat(70_000)}\r\n`),
    );
    const { attempt } = await post(client, url);
    expect(attempt.outcome).toBe("connection_failed");
    expect(attempt.error).toContain("more than 16384 bytes");
  });

  test.each([
    ["a protocol other than HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["two content lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx"],
    ["a protocol switch", "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"],
  ])("%s", async (_what, answer) => {
    const url = await rawServer((socket) => socket.write(answer));
    const { attempt } = await post(client, url);
    expect(attempt).toMatchObject({ outcome: "connection_failed", status: null });
    expect((attempt.error ?? "").length).toBeLessThanOrEqual(200);
    expect(attempt.error).not.toBe("");
  });

  test("connections that are reset, refused, or without TLS", async () => {
    const receiver = receivers.at("reset");
    receiver.behave(reset);
    expect((await post(client, receiver.url)).attempt).toMatchObject({
      outcome: "connection_failed",
      status: null,
    });
    expect((await post(client, "http://127.0.0.1:1/")).attempt).toMatchObject({
      outcome: "connection_failed",
      error: "the connection was refused",
    });
    const plain = receivers.at("plain");
    expect((await post(client, plain.url.replace("http:", "https:"))).attempt).toMatchObject({
      outcome: "connection_failed",
      status: null,
    });
    expect(plain.requests).toEqual([]);
  });

  test("an untrusted certificate", async () => {
    const server = createTlsServer({ key: pem("PRIVATE KEY", KEY), cert: pem("CERTIFICATE", CERTIFICATE) });
    let requests = 0;
    server.on("request", (_request, response) => {
      requests += 1;
      response.end();
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    atEnd(async () => void server.close());
    const address = server.address();
    const port = address && typeof address === "object" ? address.port : 0;
    const { attempt } = await post(client, `https://localhost:${port}/`);
    expect(attempt).toMatchObject({ outcome: "connection_failed", status: null });
    expect(attempt.error).toContain("certificate");
    expect(requests).toBe(0);
  });

  test("a request on a closed keep-alive connection is repeated on a new one", async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    const used = new Set<Socket>();
    const url = await rawServer((socket) => {
      if (used.has(socket)) socket.resetAndDestroy();
      else used.add(socket.setNoDelay(true)) && socket.write(answer);
    });
    expect((await post(client, url)).attempt.outcome).toBe("delivered");
    expect((await post(client, url)).attempt.outcome).toBe("delivered");
    expect(used.size).toBe(2);
  });

  test("Retry-After is returned", async () => {
    const receiver = receivers.at("pause");
    receiver.behave(status(429, { "retry-after": "77" }));
    expect(await post(client, receiver.url)).toMatchObject({ retryAfter: 77, attempt: { status: 429 } });
    receiver.behave(status(204));
    expect(await post(client, receiver.url)).toMatchObject({
      retryAfter: null,
      attempt: { status: 204, error: null },
    });
  });

  test("an aborted call has no result", async () => {
    const aborted = clientWith({ allow: LOOPBACK_HOSTS });
    const receiver = receivers.at("stopped");
    receiver.behave(hang);
    const result = aborted.post({ url: receiver.url, body: "{}", headers: {} });
    await receiver.received(1);
    aborted.abort();
    expect(await result).toBeUndefined();
    expect(await aborted.post({ url: receiver.url, body: "{}", headers: {} })).toBeUndefined();
    expect(receiver.requests).toHaveLength(1);
  });
});
