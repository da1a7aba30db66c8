import type { MiddlewareHandler } from "hono";
import { bodyLimit as honoBodyLimit } from "hono/body-limit";
import { ApiError } from "../../lib/errors.ts";
import type { Logger } from "../../lib/log.ts";
import { crossOrigin } from "./common-headers.ts";
import type { ApiEnv } from "./env.ts";
import { withoutKeys } from "./keys-in-addresses.ts";

/** 1 MiB: the largest request of this API is a few hundred bytes. */
export const MAX_BODY_BYTES = 1024 * 1024;

const limitedBody = honoBodyLimit({
  maxSize: MAX_BODY_BYTES,
  onError: () => {
    throw new ApiError("payload_too_large", `The body is larger than ${MAX_BODY_BYTES} bytes.`);
  },
});

const hasNoBody = (method: string) => method === "GET" || method === "HEAD";

/** Bounds the body, where there can be one: to look for it makes a whole `Request`, which costs more than many answers. */
export const bodyLimit: MiddlewareHandler = (c, next) =>
  hasNoBody(c.req.method) ? next() : limitedBody(c, next);

/** Answers a page of another origin that asks what it may send. */
export const preflight: MiddlewareHandler = (c, next) =>
  c.req.method === "OPTIONS" ? crossOrigin(c, next) : next();

/** Refuses an address with a broken percent-encoding, which routers would pass on as it stands. */
export const decodablePath: MiddlewareHandler = async (c, next) => {
  try {
    if (c.req.url.includes("%")) decodeURIComponent(new URL(c.req.url).pathname);
  } catch {
    throw new ApiError("validation_error", "The address has a broken percent-encoding.", {
      details: [{ path: "path", message: "is not valid percent-encoding" }],
    });
  }
  await next();
};

/** One line per request, at level debug. Somebody may put a key into the address: the query string is left out. */
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
