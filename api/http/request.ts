import type { MiddlewareHandler } from "hono";
import { bodyLimit as honoBodyLimit } from "hono/body-limit";
import { ApiError } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import { crossOrigin } from "./common-headers.ts";
import type { ApiEnv } from "./env.ts";
import { withoutKeys } from "./keys-in-urls.ts";

/** 1 MiB; the largest valid body is about 20 kB (a delegation with a long signature). */
export const MAX_BODY_BYTES = 1024 * 1024;

const limitedBody = honoBodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new ApiError("payload_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  },
});

const hasNoBody = (method: string) => method === "GET" || method === "HEAD";

/** Limits the body. Skipped for methods without one, because reading it builds a whole `Request`. */
export const bodyLimit: MiddlewareHandler = (c, next) =>
  hasNoBody(c.req.method) ? next() : limitedBody(c, next);

/** Answers CORS preflight requests. */
export const preflight: MiddlewareHandler = (c, next) =>
  c.req.method === "OPTIONS" ? crossOrigin(c, next) : next();

/** Refuses an address with invalid percent-encoding, which the router would pass on undecoded. */
export const decodablePath: MiddlewareHandler = async (c, next) => {
  try {
    if (c.req.url.includes("%")) decodeURIComponent(new URL(c.req.url).pathname);
  } catch {
    throw new ApiError("validation_error", "The address has invalid percent-encoding.", {
      details: [{ path: "path", message: "is not valid percent-encoding" }],
    });
  }
  await next();
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
      method: c.req.method,
      path: withoutKeys(c.req.path),
      status: c.res.status,
      ms: Math.round(performance.now() - begun),
    });
  };
