/** Turns every failure into the error envelope. */
import type { Hook } from "@hono/zod-openapi";
import type { Context, ErrorHandler, NotFoundHandler } from "hono";
import { HTTPException } from "hono/http-exception";
import { findMismatch } from "../../lib/chain/reverts.ts";
import type { Contracts } from "../../lib/deployments.ts";
import { ApiError, type ErrorCode, type ErrorDetail } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { traceparentOf } from "../../lib/trace-context.ts";
import type { ApiEnv } from "./env.ts";
import { errorBody } from "./error-envelope.ts";
import { withoutKeys } from "./keys-in-urls.ts";
import type { CountRequest } from "./limits/middleware.ts";
import { faultsOf } from "./request-object.ts";
import { SHOULD_RETRY, shouldRetry } from "./should-retry.ts";

/** Codes for the exceptions that Hono and its validators throw. */
const thrownByHono: Readonly<Record<number, [code: ErrorCode, message: string]>> = {
  400: ["validation_error", "The body is not valid JSON."],
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

/** A response with the envelope, its status, `x-should-retry`, and `Retry-After` where the code has one. */
export function respondWith(c: Context, error: ApiError) {
  // A failure, a 404 too, may be over a moment later.
  c.header("Cache-Control", "no-store");
  if (error.retryAfter !== null) c.header("Retry-After", String(error.retryAfter));
  c.header(SHOULD_RETRY, String(shouldRetry(error, c.req)));
  // The rest of the body is not read, so the connection cannot carry another request.
  if (error.status === 413) c.header("Connection", "close");
  return c.json(errorBody(error), error.status);
}

/** For the log: the contract that does not answer as its interface says; unnamed where no deployment file names it. */
function mismatchOf(error: ApiError, contracts: Partial<Contracts>) {
  const read = error.code === "contract_mismatch" ? findMismatch(error.cause) : undefined;
  if (!read) return {};
  const address = read.contractAddress;
  const contract = Object.entries(contracts).find(([, known]) => known === address)?.[0];
  return { contract, address, function: read.functionName };
}

/** Answers errors of handlers and middleware. An unexpected one is a 500 without details; its cause goes to the log. */
export const onError =
  (log: Logger, contracts: Partial<Contracts> = {}): ErrorHandler<ApiEnv> =>
  (thrown, c) => {
    // The client disconnected in the middle of its body, which is no fault of the service.
    const error = c.req.raw.signal.aborted
      ? new ApiError("validation_error", "The request ended before its body.", { cause: thrown })
      : toApiError(thrown);
    const path = withoutKeys(c.req.path);
    const line = {
      requestId: c.get("requestId"),
      traceparent: traceparentOf(c.req.header("traceparent")),
      method: c.req.method,
      path,
      code: error.code,
    };
    if (error.status === 500)
      log.error(
        {
          ...line,
          ...mismatchOf(error, contracts),
          err: errorText(error.cause ?? error),
          stack: thrown.stack,
        },
        "failed",
      );
    else if (error.status === 503) log.warn({ ...line, err: errorText(error.cause ?? error) }, "unavailable");
    return respondWith(c, error);
  };

export const onNotFound =
  (countRequest: CountRequest): NotFoundHandler<ApiEnv> =>
  async (c) => {
    await countRequest(c);
    return respondWith(c, new ApiError("not_found", `There is no resource at ${c.req.path.slice(0, 200)}`));
  };

/**
 * For Hono's `methodNotAllowed`: the envelope, and the methods that the address allows. Hono asks `onNotFound` first, so the
 * request is counted.
 */
export function onMethodNotAllowed(c: Context, methods: string[]) {
  c.header("Allow", methods.join(", "));
  const message = `${c.req.method} is not allowed here; allowed: ${methods.join(", ")}`;
  return respondWith(c, new ApiError("method_not_allowed", message));
}

/** The path of a bad field, or the part of the request when the whole part is bad. */
const detailPath = (target: string, path: readonly PropertyKey[]) =>
  path.length > 0 ? path.map(String).join(".") : target === "json" ? "body" : target;

/** The `defaultHook` of every route: input that fails its schema is 400 `validation_error`, with one detail per field. */
export const onInvalid: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (result.success) return;
  const details: ErrorDetail[] = faultsOf(result.error).map(({ path, message }) => ({
    path: detailPath(result.target, path),
    message,
  }));
  throw new ApiError(
    "validation_error",
    `The request is not valid: ${details.map((d) => d.path).join(", ")}`,
    {
      details,
    },
  );
};
