/** What stands ahead of the app: answers that are kept are sent from here, as bytes, in a fraction of the app's time. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Logger } from "../../lib/log.ts";
import { within } from "../../lib/within.ts";
import { databaseUnavailable } from "../http/dependency-timeout.ts";
import { rateLimitHeaders } from "../http/limits/document.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { ClientOf } from "../http/limits/middleware.ts";
import type { NewestHead } from "./newest-head.ts";
import { hasTag, type KeptAnswers } from "./response-cache.ts";

/** Answers a request and tells so, or leaves it untouched to the app. Never rejects. */
export type Front = (incoming: IncomingMessage, outgoing: ServerResponse) => Promise<boolean>;

export type FrontOptions = {
  readonly kept: KeptAnswers;
  readonly newest: NewestHead;
  /** The limit of public reads: nothing else is kept. */
  readonly limiter: Limiter;
  readonly clientOf: ClientOf;
  readonly log: Logger;
};

/** How long the newest block may take, in ms: then the app answers, within bounds of its own. */
const HEAD_TIMEOUT_MS = 300;

export function createFront({ kept, newest, limiter, clientOf, log }: FrontOptions): Front {
  async function answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    const { method, url = "", headers } = incoming;
    const found = method === "GET" ? kept.find(url) : undefined;
    // A caller's own request id is checked by the app.
    if (!found || headers["x-request-id"] !== undefined) return false;
    const { hash } = newest.fresh() ?? (await within(HEAD_TIMEOUT_MS, newest.get(), databaseUnavailable));
    if (hash !== found.blockHash) return false;
    const forwardedFor = headers["x-forwarded-for"];
    const client = clientOf(incoming.socket.remoteAddress, forwardedFor?.toString());
    const standing = await limiter.consume(client);
    if (standing.exceeded) return false; // the app refuses it
    const requestId = randomUUID();
    const status = hasTag(headers["if-none-match"], found.tag) ? 304 : 200;
    const own = ["x-request-id", requestId, ...rateLimitHeaders(standing).flat()];
    if (status === 304) {
      outgoing.writeHead(304, [...found.headers, ...own]).end();
    } else {
      const { body } = found;
      const content = ["Content-Type", "application/json", "Content-Length", String(body.length)];
      outgoing.writeHead(200, [...found.headers, ...content, ...own]).end(body);
    }
    if (log.isLevelEnabled("debug"))
      log.debug({ requestId, method, path: url.split("?")[0], status, kept: true });
    return true;
  }

  return async (incoming, outgoing) => {
    try {
      return await answer(incoming, outgoing);
    } catch {
      return false; // whatever is away, the app says so in its own words
    }
  };
}
