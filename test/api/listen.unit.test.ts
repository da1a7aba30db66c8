/** The server around the app: clients that take no answers, or break off a refused CONNECT, and what answers take in memory. */
import { connect, type Socket } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { OpenAPIHono } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { addExplorerRoutes } from "../../api/explorer/handlers.ts";
import type { Api, ApiEnv } from "../../api/http/env.ts";
import { type Listening, serve } from "../../api/http/listen.ts";
import { createLogger } from "../../lib/log.ts";
import { atEnd } from "../support/cleanup.ts";

const MEBIBYTE = 1024 * 1024;
/** Four times what the system keeps for a connection, at least. */
const LARGE = 256 * MEBIBYTE;

async function start(app: Api, silenceMs = 60_000): Promise<Listening> {
  const log = createLogger("test", "silent");
  const server = await serve(app, { port: 0, host: "127.0.0.1", log, commonHeaders: [], silenceMs });
  atEnd(() => server.close(0));
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
  atEnd(async () => void socket.destroy());
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

/** An app with a large and a small answer, and a count of those that were taken or cut off. */
function createApp() {
  const body = new Uint8Array(LARGE);
  const counts = { ended: 0 };
  const app: Api = new OpenAPIHono<ApiEnv>();
  app.use(async (c, next) => {
    c.env.outgoing.once("close", () => {
      counts.ended += 1;
    });
    await next();
  });
  app.get("/large", (c) => c.body(body));
  app.get("/small", (c) => c.text("small"));
  return { app, counts };
}

test("a client that takes nothing of its answer is cut off; one that takes it slowly gets all of it", async () => {
  const { app, counts } = createApp();
  const silenceMs = 3000;
  const server = await start(app, silenceMs);
  const stalled = await open(server, get("/large"));
  const slow = await open(server, get("/large"));
  slow.read();
  for (let part = 1; part < 4; part += 1) {
    // The system keeps less than a part, so the server has written more whenever the client has taken one.
    await expect.poll(slow.received).toBeGreaterThan((part * LARGE) / 4);
    slow.socket.pause();
    await sleep(silenceMs / 2);
    slow.socket.resume();
  }
  await expect.poll(slow.received).toBeGreaterThan(LARGE);
  await expect.poll(() => counts.ended).toBe(2);
  stalled.read();
  await expect.poll(stalled.isClosed).toBe(true);
  expect(stalled.received()).toBeLessThan(LARGE);
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
  // Its writes fail after a while.
  await expect
    .poll(() => {
      client.socket.write("x");
      return client.socket.destroyed;
    })
    .toBe(true);
});

test("answers of the explorer share one copy of their bytes", async () => {
  const app: Api = new OpenAPIHono<ApiEnv>();
  let answered = 0;
  app.use(async (_c, next) => {
    await next();
    answered += 1;
  });
  addExplorerRoutes(app, { publicUrl: undefined });
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
