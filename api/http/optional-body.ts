import type { MiddlewareHandler } from "hono";
import type { ApiEnv } from "./env.ts";

/**
 * For routes with an optional body: an empty body counts as none, because many clients send a content type without one.
 */
export const optionalBody: MiddlewareHandler<ApiEnv> = async (c, next) => {
  // Hono keeps the text for the validator.
  if ((await c.req.text()) === "") c.req.raw.headers.delete("content-type");
  await next();
};
