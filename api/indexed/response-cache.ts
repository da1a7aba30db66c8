/** Middleware that keeps answers of the index while their block is the newest. */
import type { Context, MiddlewareHandler } from "hono";
import { LRUCache } from "lru-cache";
import { rateLimitHeaders } from "../http/limits/headers.ts";
import type { RateLimitStatus } from "../http/limits/limiter.ts";
import { requestIdOf } from "../http/request.ts";
import { bringsKey } from "../http/sent-key.ts";
import type { NewestHead } from "./newest-head.ts";
import { type IndexedAnswer, type IndexedEnv, responseParts } from "./responses.ts";

/** Total size of the answers, in characters: clients choose the addresses, so their number must be limited. */
const MAX_SIZE = 32 * 1024 * 1024;
/** Size of an entry beside its body and address, roughly. */
const ENTRY_SIZE = 2048;

type ResponseCacheParts = {
  readonly newest: NewestHead;
  /** Counts the request as a public read: only those are kept. */
  readonly count: (c: Context<IndexedEnv>) => Promise<RateLimitStatus>;
  /** Hears of each answer from the cache. */
  readonly onAnswer: (source: "cache") => void;
  readonly maxSize?: number | undefined;
};

/**
 * Answers a GET from the cache, or keeps the answer that the route sends with `IndexedResponses.send`, by its address. It comes
 * first, so that an answer from the cache costs nothing that comes behind it: it counts the request and names it by itself. Over
 * the size, the answer that was used least recently goes first.
 */
export function cacheResponses(parts: ResponseCacheParts): MiddlewareHandler<IndexedEnv> {
  const { newest, count, onAnswer, maxSize = MAX_SIZE } = parts;
  const kept = new LRUCache<string, IndexedAnswer>({
    maxSize,
    sizeCalculation: ({ body }, url) => body.length + url.length + ENTRY_SIZE,
  });

  /** The kept answer of the newest block. Without the newest block there is none: the route reports why. */
  async function find(url: string): Promise<IndexedAnswer | undefined> {
    const known = kept.get(url);
    if (!known) return undefined;
    const head = await newest.get().catch(() => undefined);
    return known.asOf.hash === head?.hash ? known : undefined;
  }

  return async (c, next) => {
    const { method, url } = c.req;
    if (method !== "GET" && method !== "HEAD") return next();
    // A request with a key counts for the key.
    const found = bringsKey(c) ? undefined : await find(url);
    const limit = found && (await count(c));
    if (found && limit && !limit.exceeded) {
      onAnswer("cache");
      const { headers, body } = responseParts(c, found);
      headers["x-request-id"] = requestIdOf(c);
      for (const [name, value] of rateLimitHeaders(limit)) headers[name] = value;
      return new Response(body, { status: body === null ? 304 : 200, headers });
    }
    await next();
    const made = c.get("indexed");
    // A late answer of an older block would never be sent, and would replace the newer one.
    if (made && newest.known()?.hash === made.asOf.hash) kept.set(url, made);
  };
}
