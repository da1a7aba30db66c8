/** The limits of refused admin tokens: of one client address, and of all together. */
import { OpenAPIHono } from "@hono/zod-openapi";
import { expect, test } from "vitest";
import { clientOf } from "../../api/http/client-address.ts";
import { requireAdminToken } from "../../api/http/credentials.ts";
import type { ApiEnv } from "../../api/http/env.ts";
import { onError } from "../../api/http/errors.ts";
import { countInMemory } from "../../api/http/limits/counters.ts";
import { createLimiter } from "../../api/http/limits/limiter.ts";
import { serve } from "../../api/http/listen.ts";
import { createLogger } from "../../lib/log.ts";
import { parseTrustedProxies } from "../../lib/trust-proxy.ts";
import { atEnd } from "../support/cleanup.ts";
import { http } from "../support/http.ts";

const log = createLogger("test", "silent");

const limiter = (name: string, limit: number) => {
  const window = { name, limit, seconds: 60 };
  return createLimiter({ window, redis: undefined, fallback: countInMemory(window), onRedisError: () => {} });
};

/** A server that asks for the admin token. @returns sends a request from an address: its status */
async function start(ofClient: number, ofAll: number) {
  const proxies = parseTrustedProxies("loopback");
  if (!proxies) throw new Error("unreachable");
  const app = new OpenAPIHono<ApiEnv>();
  app.onError(onError(log));
  const failedAdminTokens = { ofClient: limiter("client", ofClient), ofAll: limiter("all", ofAll) };
  app.use(
    requireAdminToken({
      adminToken: "right token",
      limits: { failedAdminTokens },
      clientOf: (address, forwardedFor) => clientOf(address, forwardedFor, proxies),
      isLocalChain: async () => true,
    }),
  );
  app.get("/", (c) => c.text("ok"));
  const server = await serve(app, { port: 0, host: "127.0.0.1", log, commonHeaders: [], silenceMs: 60_000 });
  atEnd(() => server.close(0));
  return async (token: string | undefined, address: string): Promise<number> => {
    const headers = { "x-forwarded-for": address, ...(token !== undefined && { "x-admin-token": token }) };
    return (await http(server.url, { headers })).status;
  };
}

test("too many refused tokens of all clients lock everybody out; those of a locked-out client do not count", async () => {
  const send = await start(3, 7);
  const guesses = (count: number, address: string) =>
    Promise.all(Array.from({ length: count }, (_, n) => send(`guess ${n}`, address)));

  // Simultaneous guesses of one client: three are counted, also of all.
  const first = await guesses(20, "198.51.100.1");
  expect(first.filter((status) => status === 401)).toHaveLength(3);
  expect(await send("right token", "198.51.100.1")).toBe(429);
  expect(await send("right token", "198.51.100.2")).toBe(200);

  const second = await guesses(3, "198.51.100.3");
  expect(second).toEqual([401, 401, 401]);
  expect(await send("right token", "198.51.100.2")).toBe(200);
  const third = await guesses(3, "198.51.100.4");
  expect(third.toSorted()).toEqual([401, 429, 429]);
  expect(await send("right token", "198.51.100.2")).toBe(429);
});

test("requests without a token lock out their client only", async () => {
  const send = await start(3, 7);
  for (let client = 1; client <= 5; client += 1) {
    const address = `198.51.100.${client}`;
    const statuses = [];
    for (let n = 0; n < 4; n += 1) statuses.push(await send(undefined, address));
    expect(statuses).toEqual([401, 401, 401, 429]);
  }
  expect(await send("right token", "198.51.100.99")).toBe(200);
});
