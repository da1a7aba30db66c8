import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";

/** What the server and the middleware put into the context of every request. */
export type ApiEnv = {
  Bindings: HttpBindings;
  /** `counted` once a rate limit has counted the request. */
  Variables: { requestId: string; counted?: boolean };
};
export type Api = OpenAPIHono<ApiEnv>;
