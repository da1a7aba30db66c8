import { getConnInfo } from "@hono/node-server/conninfo";
import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../../../lib/errors.ts";
import type { ApiEnv } from "../env.ts";
import { rateLimitHeaders } from "./headers.ts";
import type { Limiter, RateLimitStatus } from "./limiter.ts";

/** Names the client of a request, from the socket's address and the header `X-Forwarded-For`. */
export type ClientOf = (remoteAddress: string | undefined, forwardedFor: string | undefined) => string;

/**
 * The request's client, as limits by address count it.
 * @throws ApiError when the connection is closed: a client without an address would get a limit of its own
 */
export function clientName(c: Context, clientOf: ClientOf): string {
  const { address } = getConnInfo(c).remote;
  if (address === undefined) throw new ApiError("request_timeout", "The connection is closed.");
  return clientOf(address, c.req.header("x-forwarded-for"));
}

/** The dashboard's pages beside `/`, and its files. */
const DASHBOARD_PATHS = [
  "/assets/*",
  "/cover",
  "/claims",
  "/bonds",
  "/market",
  "/token",
  "/wallet/*",
  "/status",
  "/operator",
];
/** Addresses that count as public reads. */
const PUBLIC_PATHS = [
  "/",
  ...DASHBOARD_PATHS,
  "/docs/*",
  "/favicon.svg",
  "/favicon.ico",
  "/health",
  "/products/*",
  "/api/v1/products/*",
  "/openapi.json",
  "/mcp",
  "/api-docs/*",
  "/api/v1/indexer/*",
  "/sandbox/*",
  "/api/v1/faucet/*",
];
/**
 * Public reads, and prepared transactions, that count for a valid key that comes with them, and without one for the client
 * address.
 */
const KEYED_PATHS = [
  "/policies/*",
  "/api/v1/policies/:productId/:policyId",
  "/api/v1/policies/all",
  "/api/v1/policies/nearest",
  "/api/v1/stats/*",
  "/api/v1/live-stats",
  "/api/v1/bonds/by-owner/:address",
  "/api/v1/triggers/*",
  "/api/v1/marketplace/active-listings",
  "/api/v1/marketplace/recent-sales",
  "/api/v1/marketplace/listings/*",
  "/api/v1/marketplace/stats",
  "/api/v1/marketplace/history",
  "/api/v1/burns/*",
  "/api/v1/redeem/prepare",
  "/api/v1/marketplace/list/prepare",
  "/api/v1/marketplace/buy/prepare",
  "/api/v1/marketplace/cancel/prepare",
  "/api/v1/marketplace/withdraw/prepare",
  "/api/v1/policies/prepare",
];
/** Addresses that count as live scans. */
const SCAN_PATHS = ["/api/v1/public/*"];

/** Sets the rate-limit headers of the response, and counts a refusal. */
export function setRateLimitHeaders(c: Context, status: RateLimitStatus): void {
  if (status.exceeded) c.set("limitHit", status.name);
  for (const [name, value] of rateLimitHeaders(status)) c.header(name, value);
}

const tooMany = (message: string, { resetSeconds }: RateLimitStatus) =>
  new ApiError("rate_limit", message, { retryAfter: resetSeconds });

/** Sets the headers of a counted request, and refuses it with 429 above the limit. `what` names the requests. */
function applyCount(
  c: Context,
  { windowSeconds }: Pick<Limiter, "windowSeconds">,
  status: RateLimitStatus,
  what: string,
): void {
  c.set("counted", true);
  setRateLimitHeaders(c, status);
  if (!status.exceeded) return;
  const period = windowSeconds === 3600 ? "an hour" : "a minute";
  throw tooMany(`More than ${status.limit} ${what} in ${period}; try again later.`, status);
}

/** Counts each request by client address. */
export const limitClients =
  (limiter: Limiter, clientOf: ClientOf, what = "requests"): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    applyCount(c, limiter, await limiter.consume(clientName(c, clientOf)), what);
    await next();
  };

/** Counts a request. @throws ApiError `rate_limit` above the limit */
export type CountRequest = (c: Context<ApiEnv>) => Promise<void>;

/** Counts, as a public read, a request that no route counts: of an unknown address, or refused before it has a route. */
export const countUnrouted =
  ({ publicReads }: { readonly publicReads: Limiter }, clientOf: ClientOf): CountRequest =>
  async (c) => {
    if (c.get("counted")) return;
    applyCount(c, publicReads, await publicReads.consume(clientName(c, clientOf)), "requests");
  };

/** Sets the headers without counting: the handler decides what counts. */
export const showLimit =
  (limiter: Limiter, clientOf: ClientOf): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    setRateLimitHeaders(c, await limiter.peek(clientName(c, clientOf)));
    await next();
  };

/** A counted use of a key, and the limit that it counts for. */
export type KeyUse = { readonly limiter: Limiter; readonly status: RateLimitStatus };

/** Sets the headers of a request with a key. @throws ApiError `rate_limit` above the key's limit */
export const limitKey = (c: Context, { limiter, status }: KeyUse): void =>
  applyCount(c, limiter, status, "requests of this key");

/** Counts a read with a free key for its address. The headers stay those of the key. @throws ApiError `rate_limit` above the limit */
export async function limitFreeKeys(c: Context, limiter: Limiter, clientOf: ClientOf): Promise<void> {
  const status = await limiter.consume(clientName(c, clientOf));
  if (status.exceeded) applyCount(c, limiter, status, "reads with free keys of this address");
}

const keyedPatterns = KEYED_PATHS.map(
  (path) => new RegExp(`^${path.replace(/:\w+/g, "[^/]+").replace("/*", "(/.*)?")}$`),
);

/** Whether public reads of an address count for the key that comes with them. */
export const acceptsKey = (path: string): boolean => keyedPatterns.some((pattern) => pattern.test(path));

/** Counts a request for the valid key that it has; false when it has none. @throws ApiError `rate_limit` above the limit */
export type CountByKey = (c: Context<ApiEnv>) => Promise<boolean>;

/** The limits in front of routes without a credential, by path. */
export function publicLimits(
  limits: { publicReads: Limiter; liveScans: Limiter },
  clientOf: ClientOf,
  countByKey: CountByKey,
): [path: string, limit: MiddlewareHandler<ApiEnv>][] {
  const publicReads = limitClients(limits.publicReads, clientOf);
  const liveScans = limitClients(limits.liveScans, clientOf);
  const keyedReads: typeof publicReads = async (c, next) =>
    (await countByKey(c)) ? next() : publicReads(c, next);
  const all = (paths: readonly string[], limit: typeof publicReads) =>
    paths.map((path): [string, typeof publicReads] => [path, limit]);
  return [...all(PUBLIC_PATHS, publicReads), ...all(KEYED_PATHS, keyedReads), ...all(SCAN_PATHS, liveScans)];
}

function tooManyRefused(c: Context, status: RateLimitStatus): ApiError {
  setRateLimitHeaders(c, status);
  return tooMany("Too many refused credentials in a minute; try again later.", status);
}

/** Counts a refused credential. @throws ApiError `rate_limit` above the limit */
async function countRefusal(c: Context, limiter: Limiter, client: string): Promise<RateLimitStatus> {
  const status = await limiter.consume(client);
  if (status.exceeded) throw tooManyRefused(c, status);
  return status;
}

const isRefusal = (error: unknown) => error instanceof ApiError && error.code === "unauthenticated";

/**
 * Checks a credential with `check`, which throws `unauthenticated` for a bad one. After too many refusals a client gets 429
 * for a bad one. A good one always passes, so that nobody locks out the others behind an address.
 */
export async function limitFailures<T>(
  c: Context,
  limiter: Limiter,
  clientOf: ClientOf,
  check: () => Promise<T>,
): Promise<T> {
  try {
    return await check();
  } catch (error) {
    if (isRefusal(error)) setRateLimitHeaders(c, await countRefusal(c, limiter, clientName(c, clientOf)));
    throw error;
  }
}

/** The limits of a credential that a person chose: refusals of one client, and of all clients together. */
export type GuessLimits = { readonly ofClient: Limiter; readonly ofAll: Limiter };

/** The only client of a limit of all clients. */
const EVERYBODY = "everybody";

/**
 * Checks a credential as `limitFailures` does, but above the limits a good one gets 429 too: a guesser must not learn which
 * one is right. A request without a credential is no guess, and counts for its client only: otherwise it would cost nothing
 * to lock everybody out.
 */
export async function limitGuesses(
  c: Context,
  { ofClient, ofAll }: GuessLimits,
  clientOf: ClientOf,
  { credential, check }: { credential: string | undefined; check: () => Promise<void> },
): Promise<void> {
  const client = clientName(c, clientOf);
  for (const before of [await ofClient.peek(client), await ofAll.peek(EVERYBODY)]) {
    if (before.exceeded) throw tooManyRefused(c, before);
  }
  // Concurrent guesses may all get here: only as many as the limits allow get an answer.
  return limitFailures(c, ofClient, clientOf, check).catch(async (error: unknown) => {
    if (isRefusal(error) && credential !== undefined) await countRefusal(c, ofAll, EVERYBODY);
    throw error;
  });
}
