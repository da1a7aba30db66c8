/**
 * What this proves: a call leads nowhere that the guard forbids, whenever the name changed its mind; and whatever a
 * receiver does to a call costs a bounded time and a bounded answer.
 */
import { createServer as createTlsServer } from "node:https";
import { createServer, type Socket } from "node:net";
import { beforeAll, describe, expect, test } from "vitest";
import { LOOPBACK_HOSTS } from "../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, ResolverUnavailable } from "../../lib/webhooks/guard.ts";
import { waitFor } from "../../scripts/local/wait.ts";
import { createPoster, type Posted, type Poster } from "../../workers/webhooks/post.ts";
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

const ANSWER_MS = 1500;
/** How far behind its time-outs a busy machine may be, in ms; without them these calls would not end. */
const SLOWNESS_MS = 10_000;

/** Of a certificate for localhost that it signed itself. It is in use nowhere else. */
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

function posterWith(options: Partial<Parameters<typeof createTargetGuard>[0]>): Poster {
  const guard = createTargetGuard({ allow: [], resolve: resolveNames, ...options });
  const poster = createPoster({ guard, connections: 64, answerMs: ANSWER_MS });
  atEnd(() => poster.close());
  return poster;
}

async function post(poster: Poster, url: string): Promise<Posted> {
  const posted = await poster.post({ url, body: '{"id":"evt_1"}', headers: { "webhook-id": "evt_1" } });
  if (!posted) throw new Error("it was stopped");
  return posted;
}

describe("through the guard", () => {
  const poster = posterWith({});

  test.each(hostileTargets)("%s: %s", async (target, reason) => {
    const { attempt } = await post(poster, target);
    expect(attempt).toMatchObject({ outcome: "target_refused", status: null, response: null });
    expect(attempt.error).toContain(reason);
  });

  test("a name that was public when the webhook was made, and is not when it is called", async () => {
    const answers = [["93.184.216.34"], ["127.0.0.1"]];
    const resolve = async () => answers.shift() ?? [];
    const guard = createTargetGuard({ allow: [], resolve });
    expect(await guard.check("https://changing.example.com/")).toMatchObject({ ok: true });
    const { attempt } = await post(posterWith({ resolve }), "https://changing.example.com/");
    expect(attempt.outcome).toBe("target_refused");
  });

  test("name servers that are away are a fault of the connection, and cost no more than the time there is", async () => {
    const away = posterWith({ resolve: () => Promise.reject(new ResolverUnavailable("nobody answers")) });
    expect((await post(away, "https://public.example.com/")).attempt).toMatchObject({
      outcome: "connection_failed",
      error: "nobody answers",
    });
    const silent = posterWith({ resolve: () => new Promise(() => {}) });
    const { attempt } = await post(silent, "https://public.example.com/");
    expect(attempt.outcome).toBe("timeout");
    expect(attempt.durationMs).toBeLessThan(ANSWER_MS + SLOWNESS_MS);
  });

  test("what went wrong is cut to a length between characters, or Postgres would not take it", async () => {
    const wordy = posterWith({ resolve: () => Promise.reject(new Error(`${"x".repeat(199)}😀 and more`)) });
    const { error } = (await post(wordy, "https://public.example.com/")).attempt;
    expect(error).toBe(`${"x".repeat(199)}\uFFFD`);
  });

  test("an address of this machine is refused where it is not allowed, though somebody listens there", async () => {
    const receivers = await startReceivers();
    const receiver = receivers.at("inside");
    expect((await post(poster, receiver.url)).attempt.outcome).toBe("target_refused");
    const port = new URL(receiver.url).port;
    const elsewhere = posterWith({ allow: [{ host: "127.0.0.1", port: Number(port) + 1 }] });
    expect((await post(elsewhere, receiver.url)).attempt.outcome).toBe("target_refused");
    expect(receiver.requests).toEqual([]);
  });
});

describe("receivers that mean harm, or know no better", () => {
  const poster = posterWith({ allow: LOOPBACK_HOSTS });
  let receivers: Receivers;
  beforeAll(async () => {
    receivers = await startReceivers();
  });

  /** A server that does what it likes with a connection once a request has arrived. */
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

  test("a redirect to the inside is a failure, and is not followed", async () => {
    const [door, inside] = [receivers.at("door"), receivers.at("inside")];
    for (const code of [301, 302, 303, 307, 308]) {
      door.behave(status(code, { location: inside.url }));
      const { attempt } = await post(poster, door.url);
      expect(attempt).toMatchObject({ outcome: "refused", status: code });
      expect(attempt.error).toContain("redirects are not followed");
    }
    expect(inside.requests).toEqual([]);
  });

  test.each([
    ["says nothing", hang],
    ["sends header after header", slowHeaders(50)],
  ])("one that %s", async (name, reply) => {
    const receiver = receivers.at(name.replaceAll(" ", "-"));
    receiver.behave(reply);
    const { attempt } = await post(poster, receiver.url);
    expect(attempt).toMatchObject({ outcome: "timeout", status: null });
    expect(attempt.durationMs).toBeGreaterThanOrEqual(ANSWER_MS - 50);
    expect(attempt.durationMs).toBeLessThan(ANSWER_MS + SLOWNESS_MS);
    if (reply === hang) {
      await waitFor({
        what: "the connection to end",
        probe: () => (receiver.underWay() === 0 ? true : undefined),
        timeoutMs: 60_000,
      });
    }
  });

  test("one that says again and again that it will answer", async () => {
    const url = await rawServer((socket) => {
      const timer = setInterval(() => socket.write("HTTP/1.1 103 Early Hints\r\nlink: x\r\n\r\n"), 20);
      socket.on("close", () => clearInterval(timer));
    });
    const { attempt } = await post(poster, url);
    expect(attempt).toMatchObject({ outcome: "timeout", status: null });
    expect(attempt.durationMs).toBeLessThan(ANSWER_MS + SLOWNESS_MS);
  });

  test("bodies without an end are cut, and it is the status that counts", async () => {
    const receiver = receivers.at("endless");
    for (const [code, outcome] of [
      [200, "delivered"],
      [500, "refused"],
    ] as const) {
      receiver.behave(endlessBody(code));
      const all = await Promise.all(Array.from({ length: 10 }, () => post(poster, receiver.url)));
      for (const { attempt } of all) {
        expect(attempt).toMatchObject({ outcome, status: code, response: "x".repeat(2048) });
      }
    }
    await waitFor({
      what: "the connections to end",
      probe: () => (receiver.underWay() === 0 ? true : undefined),
      timeoutMs: 60_000,
    });
  });

  test("what is packed is not unpacked", async () => {
    const receiver = receivers.at("bomb");
    receiver.behave(gzipBomb());
    const { attempt } = await post(poster, receiver.url);
    expect(attempt).toMatchObject({ outcome: "delivered", status: 200, response: "(packed as gzip)" });
    expect(attempt.durationMs).toBeLessThan(ANSWER_MS + SLOWNESS_MS);
  });

  test("a body that does not come is waited for a second, and not longer", async () => {
    const url = await rawServer((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nthe beginning"),
    );
    const { attempt } = await post(poster, url);
    expect(attempt).toMatchObject({ outcome: "delivered", response: "the beginning" });
    expect(attempt.durationMs).toBeLessThan(1000 + SLOWNESS_MS);
  });

  test("headers of a megabyte", async () => {
    const url = await rawServer((socket) =>
      socket.write(`HTTP/1.1 200 OK\r\n${"x-much: of-this\r\n".repeat(70_000)}\r\n`),
    );
    const { attempt } = await post(poster, url);
    expect(attempt.outcome).toBe("connection_failed");
    expect(attempt.error).toContain("more than 16384 bytes");
  });

  test.each([
    ["something else than HTTP", "SSH-2.0-OpenSSH_9.2\r\n"],
    ["two lengths", "HTTP/1.1 200 OK\r\ncontent-length: 1\r\ncontent-length: 2\r\n\r\nx"],
    [
      "a switch of protocols",
      "HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",
    ],
  ])("%s", async (_what, answer) => {
    const url = await rawServer((socket) => socket.write(answer));
    const { attempt } = await post(poster, url);
    expect(attempt).toMatchObject({ outcome: "connection_failed", status: null });
    expect((attempt.error ?? "").length).toBeLessThanOrEqual(200);
    expect(attempt.error).not.toBe("");
  });

  test("connections that are reset, refused, or speak no TLS", async () => {
    const receiver = receivers.at("reset");
    receiver.behave(reset);
    expect((await post(poster, receiver.url)).attempt).toMatchObject({
      outcome: "connection_failed",
      status: null,
    });
    expect((await post(poster, "http://127.0.0.1:1/")).attempt).toMatchObject({
      outcome: "connection_failed",
      error: "nobody listens at this address",
    });
    const plain = receivers.at("plain");
    expect((await post(poster, plain.url.replace("http:", "https:"))).attempt).toMatchObject({
      outcome: "connection_failed",
      status: null,
    });
    expect(plain.requests).toEqual([]);
  });

  test("a certificate that nobody vouches for", async () => {
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
    const { attempt } = await post(poster, `https://localhost:${port}/`);
    expect(attempt).toMatchObject({ outcome: "connection_failed", status: null });
    expect(attempt.error).toContain("certificate");
    expect(requests).toBe(0);
  });

  test("a kept connection that was closed meanwhile is made up for by another", async () => {
    const answer = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok";
    const used = new Set<Socket>();
    const url = await rawServer((socket) => {
      if (used.has(socket)) socket.resetAndDestroy();
      else used.add(socket.setNoDelay(true)) && socket.write(answer);
    });
    expect((await post(poster, url)).attempt.outcome).toBe("delivered");
    expect((await post(poster, url)).attempt.outcome).toBe("delivered");
    expect(used.size).toBe(2);
  });

  test("a pause that the receiver asks for is handed on", async () => {
    const receiver = receivers.at("pause");
    receiver.behave(status(429, { "retry-after": "77" }));
    expect(await post(poster, receiver.url)).toMatchObject({ retryAfter: 77, attempt: { status: 429 } });
    receiver.behave(status(204));
    expect(await post(poster, receiver.url)).toMatchObject({
      retryAfter: null,
      attempt: { status: 204, error: null },
    });
  });

  test("what is stopped under way has no outcome", async () => {
    const stopped = posterWith({ allow: LOOPBACK_HOSTS });
    const receiver = receivers.at("stopped");
    receiver.behave(hang);
    const posted = stopped.post({ url: receiver.url, body: "{}", headers: {} });
    await receiver.received(1);
    stopped.stop();
    expect(await posted).toBeUndefined();
    expect(await stopped.post({ url: receiver.url, body: "{}", headers: {} })).toBeUndefined();
    expect(receiver.requests).toHaveLength(1);
  });
});
