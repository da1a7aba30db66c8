import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../../../lib/errors.ts";
import type { ApiEnv } from "../env.ts";
import { rateLimitHeaders } from "./document.ts";
import type { Limiter, Standing } from "./limiter.ts";

/** Names a request's client, by the socket's address and the header `X-Forwarded-For`. */
export type ClientOf = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * The request's client, as the limits that go by addresses name it.
 * @throws ApiError when the connection is gone: nobody hears it, and whoever has no name would have a share of its own
 */
export function clientName(c: Context, clientOf: ClientOf): string {
  const { address } = getConnInfo(c).remote;
  if (address === undefined) throw new ApiError("request_timeout", "The connection is gone.");
  return clientOf(address, c.req.header("x-forwarded-for"));
}

/** Where every answer to a credential-free read comes from: the addresses that count as public reads, and as scans. */
const PUBLIC_PATHS = [
  "/health",
  "/products/*",
  "/policies/*",
  "/openapi.json",
  "/api-docs/*",
  "/api/v1/stats/*",
  "/api/v1/policies/by-buyer/*",
  "/api/v1/bonds/by-owner/*",
  "/api/v1/triggers/*",
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/burns/*",
  "/api/v1/indexer/*",
  "/sandbox/*",
  "/api/v1/faucet/*",
];
const SCAN_PATHS = ["/api/v1/public/*"];

/** Says where the client stands, on whatever answer the request gets. */
export function tell(c: Context, standing: Standing): void {
  for (const [name, value] of rateLimitHeaders(standing)) c.header(name, value);
}

const tooMany = (message: string, { resetSeconds }: Standing) =>
  new ApiError("rate_limit", message, { retryAfter: resetSeconds });

/** Counts a request, tells where its client stands, and refuses it above the limit with 429. */
async function count(c: Context, limiter: Limiter, client: string, what: string): Promise<void> {
  const standing = await limiter.consume(client);
  tell(c, standing);
  if (!standing.exceeded) return;
  const period = limiter.windowSeconds === 3600 ? "an hour" : "a minute";
  throw tooMany(`More than ${standing.limit} ${what} in ${period}; try again later.`, standing);
}

/** Counts each request by its client's address. */
export const limitClients =
  (limiter: Limiter, clientOf: ClientOf, what = "requests"): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    await count(c, limiter, clientName(c, clientOf), what);
    await next();
  };

/** Tells where the client stands, and counts nothing: what is counted, the handler knows. */
export const tellStanding =
  (limiter: Limiter, clientOf: ClientOf): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    tell(c, await limiter.peek(clientName(c, clientOf)));
    await next();
  };

/** Counts a purchase of the sandbox, which above the limit is 403: so the API specification has it. */
export async function countSandboxCall(c: Context, limiter: Limiter, client: string): Promise<void> {
  const standing = await limiter.consume(client);
  tell(c, standing);
  if (!standing.exceeded) return;
  throw new ApiError(
    "sandbox_cap_exceeded",
    `More than ${standing.limit} sandbox calls in an hour; try again later.`,
    { retryAfter: standing.resetSeconds },
  );
}

/** Counts a request of a key, whose number stands for it: however the header was written, it is one key. */
export const limitKey = (c: Context, limiter: Limiter, keyId: number): Promise<void> =>
  count(c, limiter, String(keyId), "requests of this key");

/** Which limit stands before which address, for the app to put in front of its routes. */
export function readLimits(
  limits: { publicReads: Limiter; liveScans: Limiter },
  clientOf: ClientOf,
): [path: string, limit: MiddlewareHandler<ApiEnv>][] {
  const publicReads = limitClients(limits.publicReads, clientOf);
  const liveScans = limitClients(limits.liveScans, clientOf);
  return [
    ...PUBLIC_PATHS.map((path): [string, typeof publicReads] => [path, publicReads]),
    ...SCAN_PATHS.map((path): [string, typeof liveScans] => [path, liveScans]),
  ];
}

/**
 * Checks a credential by `check`, which throws `unauthenticated` for a bad one. A client with too many of those gets 429
 * instead, also for a good one: whoever guesses must not learn which is right.
 */
export async function limitFailures<T>(
  c: Context,
  limiter: Limiter,
  clientOf: ClientOf,
  check: () => Promise<T>,
): Promise<T> {
  const client = clientName(c, clientOf);
  const refuse = (standing: Standing) => {
    tell(c, standing);
    return tooMany("Too many refused credentials in a minute; try again later.", standing);
  };
  const before = await limiter.peek(client);
  if (before.exceeded) throw refuse(before);
  try {
    return await check();
  } catch (error) {
    if (!(error instanceof ApiError) || error.code !== "unauthenticated") throw error;
    const standing = await limiter.consume(client);
    // Of many at the same moment, only as many are answered as the limit allows.
    if (standing.exceeded) throw refuse(standing);
    tell(c, standing);
    throw error;
  }
}
