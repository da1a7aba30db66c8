import type { MiddlewareHandler } from "hono";
import type { ApiEnv } from "./env.ts";

/**
 * For a route whose body may be missing: one of no bytes is none, whatever its content type says, for many clients name
 * one all the same.
 */
export const emptyBodyIsNone: MiddlewareHandler<ApiEnv> = async (c, next) => {
  // Read once, and kept for the validator.
  if ((await c.req.text()) === "") c.req.raw.headers.delete("content-type");
  await next();
};
