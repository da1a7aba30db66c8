import { randomUUID } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import { ApiError } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import { traceparentOf } from "../../lib/trace-context.ts";
import { crossOrigin } from "./common-headers.ts";
import type { ApiEnv } from "./env.ts";
import { withoutKeys } from "./keys-in-urls.ts";
import type { CountRequest } from "./limits/middleware.ts";

/** The client's `x-request-id`, or a new one. */
export function requestIdOf(c: Context): string {
  const sent = c.req.header("x-request-id");
  const id = sent !== undefined && /^[\w=-]{1,64}$/.test(sent) ? sent : randomUUID();
  c.set("requestId", id);
  return id;
}

/** Names the request in its response. */
export const requestId: MiddlewareHandler<ApiEnv> = (c, next) => {
  c.header("x-request-id", requestIdOf(c));
  return next();
};

/** The largest valid body is about 20 kB: a delegation with a long signature. */
export const MAX_BODY_BYTES = 64 * 1024;
/** Of a message of the Model Context Protocol. */
export const MAX_MESSAGE_BYTES = 32 * 1024;

const mostBytes = (path: string) => (path === "/mcp" ? MAX_MESSAGE_BYTES : MAX_BODY_BYTES);

const tooLarge = (most: number) =>
  new ApiError("payload_too_large", `The body is larger than ${most} bytes.`);

/** The same bytes, read only on demand; an error after the most that is allowed, which `onTooLarge` hears of. */
function bounded(
  body: ReadableStream<Uint8Array>,
  most: number,
  onTooLarge: () => void,
): ReadableStream<Uint8Array> {
  const reader = body.getReader();
  let size = 0;
  const pull = async (controller: ReadableStreamDefaultController<Uint8Array>) => {
    const { done, value } = await reader.read();
    if (done) return controller.close();
    size += value.length;
    if (size <= most) return controller.enqueue(value);
    onTooLarge();
    throw tooLarge(most);
  };
  return new ReadableStream({ pull, cancel: (reason) => reader.cancel(reason) }, { highWaterMark: 0 });
}

/**
 * Refuses a body above the limit: by its `Content-Length`, otherwise while the route reads it, so that nothing is kept of the
 * body of a client that the route refuses unread.
 */
const limitBody: MiddlewareHandler = async (c, next) => {
  const most = mostBytes(c.req.path);
  const length = c.req.header("content-length");
  if (length !== undefined && c.req.header("transfer-encoding") === undefined) {
    if (Number(length) > most) throw tooLarge(most);
    return next();
  }
  const { body } = c.req.raw;
  if (body === null) return next();
  let isTooLarge = false;
  const init = {
    body: bounded(body, most, () => {
      isTooLarge = true;
    }),
    duplex: "half" as const,
  };
  c.req.raw = new Request(c.req.raw, init);
  await next();
  // The route has taken it for a broken body.
  if (isTooLarge) throw tooLarge(most);
};

const hasNoBody = (method: string) => method === "GET" || method === "HEAD";

/**
 * Removes the parameters of `application/json`: the routes' own check accepts them only without a space before the semicolon,
 * and no route reads them.
 */
function removeJsonParameters(c: Context): void {
  const [type = "", ...parameters] = c.req.header("content-type")?.split(";") ?? [];
  if (parameters.length > 0 && type.trim().toLowerCase() === "application/json")
    c.req.raw.headers.set("content-type", "application/json");
}

/** Refuses a compressed body. The header names what is taken instead (RFC 9110, 12.5.3). */
function refuseEncoded(c: Context): void {
  const encoding = c.req.header("content-encoding")?.trim().toLowerCase() ?? "";
  if (encoding === "" || encoding === "identity") return;
  c.header("Accept-Encoding", "identity");
  throw new ApiError("unsupported_media_type", "The body is compressed: send it without Content-Encoding.");
}

/** Limits the body and reads its type. Skipped for methods without one, because reading it builds a whole `Request`. */
export const requestBody: MiddlewareHandler = (c, next) => {
  if (hasNoBody(c.req.method)) return next();
  refuseEncoded(c);
  removeJsonParameters(c);
  return limitBody(c, next);
};

/** The `Host` of a request that has no valid one, or two, instead of the one that the client sent. Nobody owns such a name (RFC 6761). */
export const BAD_HOST = "host.invalid";

function isDecodable(url: string): boolean {
  try {
    if (url.includes("%")) decodeURIComponent(new URL(url).pathname);
    return true;
  } catch {
    return false;
  }
}

/** Refuses a request with a bad `Host`, or with invalid percent-encoding, which the router would pass on undecoded. */
export const refuseUnroutable =
  (countRequest: CountRequest): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    const hasHost = c.env.incoming.headers.host !== BAD_HOST;
    if (hasHost && isDecodable(c.req.url)) return next();
    await countRequest(c);
    throw hasHost
      ? new ApiError("validation_error", "The address has invalid percent-encoding.", {
          details: [{ path: "path", message: "is not valid percent-encoding" }],
        })
      : new ApiError("validation_error", "The request must have one valid header Host.", {
          details: [{ path: "Host", message: "must be one host name or address, with an optional port" }],
        });
  };

/** Answers CORS preflight requests. */
export const preflight =
  (countRequest: CountRequest): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    if (c.req.method !== "OPTIONS") return next();
    await countRequest(c);
    return crossOrigin(c, next);
  };

/** One line per request at level debug, without the query string, which may contain a key. */
export const requestLog =
  (log: Logger): MiddlewareHandler<ApiEnv> =>
  async (c, next) => {
    if (!log.isLevelEnabled("debug")) return next();
    const begun = performance.now();
    await next();
    log.debug({
      requestId: c.get("requestId"),
      traceparent: traceparentOf(c.req.header("traceparent")),
      method: c.req.method,
      path: withoutKeys(c.req.path),
      status: c.res.status,
      ms: Math.round(performance.now() - begun),
    });
  };
