/** Every failure, wherever it comes from, as the one error envelope. */
import type { Hook } from "@hono/zod-openapi";
import type { Context, ErrorHandler, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { ApiError, type ErrorCode, type ErrorDetail } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import type { ApiEnv } from "./env.ts";
import { errorBody } from "./error-envelope.ts";
import { withoutKeys } from "./keys-in-addresses.ts";

/** Codes for what Hono and its validators throw by themselves. */
const thrownByHono: Readonly<Record<number, [code: ErrorCode, message: string]>> = {
  400: ["validation_error", "The body is not valid JSON."],
  413: ["payload_too_large", "The body is larger than 1 MiB."],
  415: ["unsupported_media_type", "The body must be JSON, with content-type application/json."],
};

function toApiError(error: unknown): ApiError {
  if (error instanceof ApiError) return error;
  if (error instanceof HTTPException) {
    const known = thrownByHono[error.status];
    if (known) return new ApiError(...known, { cause: error });
  }
  return new ApiError("internal_error", "The service failed; try again later.", { cause: error });
}

/** An answer with the envelope, its status, and `Retry-After` where the client should come back. */
export function respondWith(c: Context, error: ApiError) {
  // What failed now may work in a moment, and a 404 may be there.
  c.header("Cache-Control", "no-store");
  if (error.retryAfter !== null) c.header("Retry-After", String(error.retryAfter));
  // What is left of the body is not read, so the connection cannot carry another request.
  if (error.status === 413) c.header("Connection", "close");
  return c.json(errorBody(error), error.status);
}

/** Answers what handlers and middleware throw; what nobody foresaw is a 500 that says nothing, with its cause in the log. */
export const onError =
  (log: Logger): ErrorHandler<ApiEnv> =>
  (thrown, c) => {
    // A client that went away in the middle of its body hears nothing any more, and is no fault of ours.
    const error = c.req.raw.signal.aborted
      ? new ApiError("validation_error", "The request ended before its body.", { cause: thrown })
      : toApiError(thrown);
    const path = withoutKeys(c.req.path);
    const line = { requestId: c.get("requestId"), method: c.req.method, path, code: error.code };
    if (error.status === 500)
      log.error({ ...line, err: errorText(error.cause ?? error), stack: thrown.stack }, "failed");
    else if (error.status === 503) log.warn({ ...line, err: errorText(error.cause ?? error) }, "unavailable");
    return respondWith(c, error);
  };

export const onNotFound: NotFoundHandler<ApiEnv> = (c) =>
  respondWith(c, new ApiError("not_found", `Nothing has the address ${c.req.path.slice(0, 200)}`));

/** For Hono's `methodNotAllowed`: the envelope, and the methods that the address does take. */
export function onMethodNotAllowed(c: Context, methods: string[]) {
  c.header("Allow", methods.join(", "));
  const message = `${c.req.method} is not allowed here; allowed: ${methods.join(", ")}`;
  return respondWith(c, new ApiError("method_not_allowed", message));
}

/** Where a fault lies: the field's path, or the part of the request when all of it is wrong. */
const detailPath = (target: string, path: readonly PropertyKey[]) =>
  path.length > 0 ? path.map(String).join(".") : target === "json" ? "body" : target;

/** The `defaultHook` of every route: what a schema refuses is 400 `validation_error`, field by field. */
export const onInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return;
  const details: ErrorDetail[] = result.error.issues.map((issue) => ({
    path: detailPath(result.target, issue.path),
    message: issue.message,
  }));
  throw new ApiError(
    "validation_error",
    `The request is not valid: ${details.map((d) => d.path).join(", ")}`,
    {
      details,
    },
  );
};
