import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";

/** What the server and the middleware put into the context of every request. */
export type ApiEnv = {
  Bindings: HttpBindings;
  /** `counted` once a rate limit has counted the request; `limitHit` names the limit that refused it. */
  Variables: { requestId: string; counted?: boolean; limitHit?: string };
};
export type Api = OpenAPIHono<ApiEnv>;
