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
const proxies = parseTrustedProxies("loopback");
if (!proxies) throw new Error("unreachable");

const limiter = (name: string, limit: number) => {
  const window = { name, limit, seconds: 60 };
  return createLimiter({ window, redis: undefined, fallback: countInMemory(window), onRedisError: () => {} });
};

test("too many refused tokens of all clients lock everybody out; those of a locked-out client do not count", async () => {
  const app = new OpenAPIHono<ApiEnv>();
  app.onError(onError(log));
  const failedAdminTokens = { ofClient: limiter("client", 3), ofAll: limiter("all", 7) };
  app.use(
    requireAdminToken({
      adminToken: "right token",
      limits: { failedAdminTokens },
      clientOf: (address, forwardedFor) => clientOf(address, forwardedFor, proxies),
      isLocalChain: async () => true,
    }),
  );
  app.get("/", (c) => c.text("ok"));
  const respondEarly = async () => false;
  const server = await serve(app, { port: 0, host: "127.0.0.1", log, respondEarly, commonHeaders: [] });
  atEnd(() => server.close(0));
  const send = async (token: string, address: string) => {
    const headers = { "x-admin-token": token, "x-forwarded-for": address };
    return (await http(server.url, { headers })).status;
  };
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
