/** Serves cached responses ahead of the app, as bytes, in a fraction of the app's time. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../lib/log.ts";
import { within } from "../../lib/timeout.ts";
import { databaseUnavailable } from "../http/dependency-timeout.ts";
import { rateLimitHeaders } from "../http/limits/headers.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { ClientOf } from "../http/limits/middleware.ts";
import type { RespondEarly } from "../http/listen.ts";
import type { NewestHead } from "./newest-head.ts";
import { matchesTag, type ResponseCache } from "./response-cache.ts";

export type EarlyResponseParts = {
  readonly cache: ResponseCache;
  readonly newest: NewestHead;
  /** The limit of public reads: only those are cached. */
  readonly limiter: Limiter;
  readonly clientOf: ClientOf;
  readonly log: Logger;
};

/** Longest wait for the newest block, in ms; after it the app answers. */
const HEAD_TIMEOUT_MS = 300;

/** Answers from the cache; false when the app has to answer. */
async function respond(
  { cache, newest, limiter, clientOf, log }: EarlyResponseParts,
  incoming: IncomingMessage,
  outgoing: ServerResponse,
): Promise<boolean> {
  const { method, url = "", headers } = incoming;
  // Only JSON is kept.
  const found = method === "GET" && !headers.accept?.includes("csv") ? cache.find(url) : undefined;
  // The app validates a request id that the client sends, and counts the request for a key.
  if (!found || headers["x-request-id"] !== undefined || headers["x-api-key"] !== undefined) return false;
  const { hash } = newest.fresh() ?? (await within(HEAD_TIMEOUT_MS, newest.get(), databaseUnavailable));
  if (hash !== found.blockHash) return false;
  const forwardedFor = headers["x-forwarded-for"];
  const client = clientOf(incoming.socket.remoteAddress, forwardedFor?.toString());
  const limit = await limiter.consume(client);
  if (limit.exceeded) return false; // the app refuses it
  const requestId = randomUUID();
  const status = matchesTag(headers["if-none-match"], found.tag) ? 304 : 200;
  const own = ["x-request-id", requestId, ...rateLimitHeaders(limit).flat()];
  if (status === 304) {
    outgoing.writeHead(304, [...found.headers, ...own]).end();
  } else {
    const { body } = found;
    const content = ["Content-Type", "application/json", "Content-Length", String(body.length)];
    outgoing.writeHead(200, [...found.headers, ...content, ...own]).end(body);
  }
  if (log.isLevelEnabled("debug"))
    log.debug({ requestId, method, path: url.split("?")[0], status, cached: true });
  return true;
}

export const createEarlyResponse =
  (parts: EarlyResponseParts): RespondEarly =>
  async (incoming, outgoing) => {
    try {
      return await respond(parts, incoming, outgoing);
    } catch {
      return false; // a dependency is down: the app reports it
    }
  };
