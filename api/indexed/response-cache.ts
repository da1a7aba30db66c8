/** Middleware that keeps answers of the index while their block is the newest. */
import type { MiddlewareHandler } from "hono";
import { LRUCache } from "lru-cache";
import type { NewestHead } from "./newest-head.ts";
import { type IndexedAnswer, type IndexedEnv, respond } from "./responses.ts";

/** Total size of the answers, in characters: clients choose the addresses, so their number must be limited. */
const MAX_SIZE = 32 * 1024 * 1024;
/** Size of an entry beside its body and address, roughly. */
const ENTRY_SIZE = 2048;

export type ResponseCacheParts = {
  readonly newest: NewestHead;
  /** Hears of each answer from the cache. */
  readonly onAnswer: (source: "cache") => void;
  readonly maxSize?: number | undefined;
};

/**
 * Answers a GET from the cache, or keeps the answer that the route sends with `IndexedResponses.send`, by its address. Over the
 * size, the answer that was used least recently goes first.
 */
export function cacheResponses({
  newest,
  onAnswer,
  maxSize = MAX_SIZE,
}: ResponseCacheParts): MiddlewareHandler<IndexedEnv> {
  const kept = new LRUCache<string, IndexedAnswer>({
    maxSize,
    sizeCalculation: ({ body }, url) => body.length + url.length + ENTRY_SIZE,
  });

  /** Without the newest block there is no answer either: the route reports why. */
  const isNewest = async ({ asOf }: IndexedAnswer) =>
    (await newest.get().catch(() => undefined))?.hash === asOf.hash;

  return async (c, next) => {
    const { method, url } = c.req;
    if (method !== "GET" && method !== "HEAD") return next();
    const known = kept.get(url);
    if (known && (await isNewest(known))) {
      onAnswer("cache");
      return respond(c, known);
    }
    await next();
    const made = c.get("indexed");
    // A late answer of an older block would never be sent, and would replace the newer one.
    if (made && newest.known()?.hash === made.asOf.hash) kept.set(url, made);
  };
}
