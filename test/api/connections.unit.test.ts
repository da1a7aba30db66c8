/** What the server keeps for clients that take no answers, pipeline, or open connections without end. */
import { connect, type Socket } from "node:net";
import { OpenAPIHono } from "@hono/zod-openapi";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { addExplorerRoutes } from "../../api/explorer/handlers.ts";
import { type ConnectionLimits, connectionLimits } from "../../api/http/connections.ts";
import type { Api, ApiEnv } from "../../api/http/env.ts";
import { type Listening, serve } from "../../api/http/listen.ts";
import { createLogger } from "../../lib/log.ts";

const MEBIBYTE = 1024 * 1024;
/** Four times what the system keeps for a connection, at least. */
const LARGE = 256 * MEBIBYTE;
/** No connection is cut off before the first of these times, and a stalled one is by the second. In ms. */
const [BEFORE_STALL_MS, STALL_MS] = [39_000, 90_000];

let closing: (() => Promise<void>)[] = [];
// The server's checks; its sockets are real.
beforeEach(() => void vi.useFakeTimers({ toFake: ["setInterval", "clearInterval"] }));
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.reverse()) await close();
  closing = [];
});

async function start(app: Api, limits: Partial<ConnectionLimits> = {}): Promise<Listening> {
  const server = await serve(app, {
    port: 0,
    host: "127.0.0.1",
    log: createLogger("test", "silent"),
    respondEarly: async () => false,
    commonHeaders: [],
    limits: { ...connectionLimits, ...limits },
  });
  closing.push(() => {
    vi.useRealTimers();
    return server.close(0);
  });
  return server;
}

type Client = {
  readonly socket: Socket;
  /** Bytes received so far. A client receives none before it reads. */
  readonly received: () => number;
  readonly text: () => string;
  /** True once the client has seen that the server has closed its end. */
  readonly isClosed: () => boolean;
  /** Takes everything from now on. */
  readonly read: () => void;
};

/** A client that reads nothing before `read` is called, and never closes its side of the connection. */
async function open({ port }: Listening, bytes = ""): Promise<Client> {
  const socket = connect({ port, host: "127.0.0.1", allowHalfOpen: true });
  socket.pause();
  let [text, closed] = ["", false];
  socket.on("error", () => {});
  for (const event of ["end", "close"]) {
    socket.on(event, () => {
      closed = true;
    });
  }
  closing.push(async () => void socket.destroy());
  await new Promise((resolve) => socket.once("connect", resolve));
  if (bytes !== "") await new Promise((resolve) => socket.write(bytes, resolve));
  let received = 0;
  return {
    socket,
    received: () => received,
    text: () => text,
    isClosed: () => closed,
    read() {
      socket.on("data", (chunk) => {
        received += chunk.length;
        if (text.length < MEBIBYTE) text += chunk.toString("latin1");
      });
      socket.resume();
    },
  };
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;

/** An app with one large answer for all, an answer that a test gives, and a count of the requests. */
function createApp() {
  const body = new Uint8Array(LARGE);
  const counts = { requests: 0 };
  let release = (): void => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const app: Api = new OpenAPIHono<ApiEnv>();
  app.use(async (_c, next) => {
    counts.requests += 1;
    await next();
  });
  app.get("/large", (c) => c.body(body));
  app.get("/small", (c) => c.text("small"));
  app.get("/waits", async (c) => {
    await released;
    return c.text("waited");
  });
  return { app, counts, release: () => release() };
}

test("a client that takes nothing of its answer for 40 seconds is cut off; others are not", async () => {
  const { app, counts, release } = createApp();
  const server = await start(app);
  const stalled = await open(server, get("/large"));
  const waiting = await open(server, get("/waits"));
  const idle = await open(server, get("/small"));
  await expect.poll(() => counts.requests).toBe(3);
  await vi.advanceTimersByTimeAsync(BEFORE_STALL_MS);
  expect([stalled, waiting, idle].map(({ isClosed }) => isClosed())).toEqual([false, false, false]);
  await vi.advanceTimersByTimeAsync(STALL_MS - BEFORE_STALL_MS);
  stalled.read();
  await expect.poll(stalled.isClosed).toBe(true);
  expect(stalled.received()).toBeLessThan(LARGE);

  await vi.advanceTimersByTimeAsync(10 * STALL_MS);
  release();
  waiting.read();
  await expect.poll(waiting.text).toContain("waited");
  expect([waiting.isClosed(), idle.isClosed()]).toEqual([false, false]);
});

test("sending more requests does not keep a client that takes nothing", async () => {
  const { app, counts } = createApp();
  const server = await start(app);
  const client = await open(server, get("/large"));
  await expect.poll(() => counts.requests).toBe(1);
  for (let sent = 0; sent < 20; sent += 1) {
    client.socket.write(get("/small"));
    await vi.advanceTimersByTimeAsync(5000);
  }
  client.read();
  await expect.poll(client.isClosed).toBe(true);
  expect(client.received()).toBeLessThan(LARGE);
});

test("a client that takes its answer slowly gets all of it", async () => {
  const { app, counts } = createApp();
  const server = await start(app);
  const client = await open(server, get("/large"));
  await expect.poll(() => counts.requests).toBe(1);
  client.socket.on("data", () => {});
  client.socket.pause();
  for (let part = 1; part < 4; part += 1) {
    await vi.advanceTimersByTimeAsync(BEFORE_STALL_MS);
    client.socket.resume();
    // The system keeps less than a part, so the server has written more whenever the client has taken one.
    await expect.poll(() => client.socket.bytesRead).toBeGreaterThan((part * LARGE) / 4);
    client.socket.pause();
  }
  client.socket.resume();
  await expect.poll(() => client.socket.bytesRead).toBeGreaterThan(LARGE);
});

test.each(["at once", "after the answer"])(
  "a client that resets a refused CONNECT %s harms nobody",
  async (when) => {
    const server = await start(createApp().app);
    const client = await open(server, "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n");
    if (when === "after the answer") {
      client.read();
      await expect.poll(client.text).toContain("HTTP/1.1 405");
    }
    client.socket.resetAndDestroy();
    const good = await open(server, get("/small"));
    good.read();
    await expect.poll(good.text).toContain("HTTP/1.1 200");
  },
);

test("a client that never closes its end after a refusal is cut off", async () => {
  const server = await start(createApp().app);
  const client = await open(server, "CONNECT x:443 HTTP/1.1\r\nHost: x:443\r\n\r\n");
  client.read();
  await expect.poll(client.text).toContain("HTTP/1.1 405");
  await expect.poll(client.isClosed).toBe(true);
  await vi.advanceTimersByTimeAsync(BEFORE_STALL_MS);
  expect(client.socket.destroyed).toBe(false);
  await vi.advanceTimersByTimeAsync(STALL_MS - BEFORE_STALL_MS);
  // Its writes fail now.
  await expect
    .poll(() => {
      client.socket.write("x");
      return client.socket.destroyed;
    })
    .toBe(true);
});

test("100 pipelined requests are answered in order; one more unanswered request closes the connection", async () => {
  const { app, counts, release } = createApp();
  const server = await start(app);
  const most = await open(server, get("/waits") + get("/small").repeat(99));
  const tooMany = await open(server, get("/waits") + get("/small").repeat(500));
  tooMany.read();
  await expect.poll(tooMany.isClosed).toBe(true);
  expect(tooMany.text()).toBe("");
  await expect.poll(() => counts.requests).toBe(200);
  release();
  most.read();
  const answers = () => most.text().match(/\r\n\r\n(waited|small)/g) ?? [];
  await expect.poll(() => answers().length).toBe(100);
  expect(answers()[0]).toContain("waited");
  // Answered requests no longer count.
  most.socket.write(get("/small").repeat(100));
  await expect.poll(() => answers().length).toBe(200);
});

test("pipelined requests of all connections are bounded, and leave room when their connections close", async () => {
  const { app, counts } = createApp();
  const server = await start(app, { pipelined: 30 });
  const [first, second] = [
    await open(server, get("/waits").repeat(21)),
    await open(server, get("/waits").repeat(11)),
  ];
  await expect.poll(() => counts.requests).toBe(32);
  const third = await open(server, get("/waits").repeat(2));
  third.read();
  await expect.poll(third.isClosed).toBe(true);
  // A connection with one request at a time is not concerned.
  const simple = await open(server, get("/small"));
  simple.read();
  await expect.poll(simple.text).toContain("small");
  first.socket.destroy();
  second.socket.destroy();
  await expect
    .poll(async () => {
      const before = counts.requests;
      await open(server, get("/waits").repeat(31));
      await expect.poll(() => counts.requests).toBeGreaterThan(before);
      return counts.requests - before;
    })
    .toBe(31);
});

test("above the limit of connections a new one is closed without a byte, until another has left", async () => {
  const { app } = createApp();
  const server = await start(app, { connections: 2 });
  const [first] = [await open(server), await open(server)];
  const third = await open(server, get("/small"));
  third.read();
  await expect.poll(third.isClosed).toBe(true);
  expect(third.text()).toBe("");
  first?.socket.destroy();
  await expect
    .poll(async () => {
      const next = await open(server, get("/small"));
      next.read();
      await expect.poll(() => next.isClosed() || next.text() !== "").toBe(true);
      return next.text();
    })
    .toContain("small");
});

test("answers of the explorer share one copy of their bytes", async () => {
  const app: Api = new OpenAPIHono<ApiEnv>();
  let answered = 0;
  app.use(async (_c, next) => {
    await next();
    answered += 1;
  });
  addExplorerRoutes(app);
  const server = await start(app);
  await fetch(`${server.url}/api-docs/scalar.js`, { headers: { "accept-encoding": "identity" } }).then((r) =>
    r.arrayBuffer(),
  );
  const before = process.memoryUsage().arrayBuffers;
  for (const path of ["/api-docs/scalar.js", "/openapi.json"]) await open(server, get(path).repeat(50));
  await expect.poll(() => answered).toBe(101);
  // Each script is 3.6 MB.
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(20 * MEBIBYTE);
});
