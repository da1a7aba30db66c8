/** Serves cached responses ahead of the app, in a fraction of the app's time. */
import { randomUUID } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import type { Logger } from "../../lib/log.ts";
import { rateLimitHeaders } from "../http/limits/headers.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import type { ClientOf } from "../http/limits/middleware.ts";
import type { RespondEarly } from "../http/listen.ts";
import type { ApiMeter } from "../http/request-metrics.ts";
import { indexAge } from "./index-age.ts";
import type { NewestHead } from "./newest-head.ts";
import { prefersCsv } from "./prefers-csv.ts";
import { type CachedResponse, matchesTag, type ResponseCache } from "./response-cache.ts";

export type EarlyResponseParts = {
  readonly cache: ResponseCache;
  readonly newest: NewestHead;
  /** The limit of public reads: only those are cached. */
  readonly limiter: Limiter;
  readonly clientOf: ClientOf;
  readonly meter: ApiMeter;
  readonly log: Logger;
};

/** The names of connections' clients, which only `X-Forwarded-For` can change within a connection. */
function createClientNames(clientOf: ClientOf): (incoming: IncomingMessage) => string {
  const names = new WeakMap<Socket, string>();
  return ({ socket, headers }) => {
    const forwardedFor = headers["x-forwarded-for"]?.toString();
    if (forwardedFor !== undefined) return clientOf(socket.remoteAddress, forwardedFor);
    const known = names.get(socket);
    if (known !== undefined) return known;
    const name = clientOf(socket.remoteAddress, undefined);
    names.set(socket, name);
    return name;
  };
}

export function createEarlyResponse(parts: EarlyResponseParts): RespondEarly {
  const { cache, newest, limiter, clientOf, meter, log } = parts;
  const clientNameOf = createClientNames(clientOf);

  /** The kept answer to this request, maybe of an older block. */
  function findKept({ method, url = "", headers }: IncomingMessage): CachedResponse | undefined {
    // Only JSON is kept.
    if (method !== "GET" || prefersCsv(headers.accept)) return undefined;
    // The app validates a request id that the client sends, and counts the request for a key.
    if (headers["x-request-id"] !== undefined || headers["x-api-key"] !== undefined) return undefined;
    return cache.atAddress(url);
  }

  async function respond(incoming: IncomingMessage, outgoing: ServerResponse): Promise<boolean> {
    const begun = performance.now();
    const found = findKept(incoming);
    if (!found) return false;
    const head = newest.fresh() ?? (await newest.get());
    if (head.hash !== found.asOf.hash) return false;
    const limit = await limiter.consume(clientNameOf(incoming));
    if (limit.exceeded) return false; // the app refuses it
    const requestId = randomUUID();
    const own = ["x-index-age", indexAge(found.asOf), "x-request-id", requestId];
    for (const [name, value] of rateLimitHeaders(limit)) own.push(name, value);
    const status = matchesTag(incoming.headers["if-none-match"], found.tag) ? 304 : 200;
    if (status === 304) outgoing.writeHead(304, found.headers.concat(own)).end();
    else {
      outgoing.writeHead(200, found.contentHeaders.concat(own)).write(found.body, "latin1");
      // Sends headers and a short body as one string. With `end` Node would send them in parts, which takes longer.
      outgoing.socket?.uncork();
      outgoing.end();
    }
    meter.indexAnswer("cache");
    const seconds = (performance.now() - begun) / 1000;
    meter.answered({ method: "GET", route: found.route, status, seconds });
    if (log.isLevelEnabled("debug")) {
      log.debug({ requestId, method: "GET", path: incoming.url?.split("?")[0], status, cached: true });
    }
    return true;
  }

  return async (incoming, outgoing) => {
    try {
      return await respond(incoming, outgoing);
    } catch {
      return false; // a dependency is down: the app reports it
    }
  };
}
