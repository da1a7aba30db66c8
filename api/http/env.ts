import type { HttpBindings } from "@hono/node-server";
import type { OpenAPIHono } from "@hono/zod-openapi";

/** What the server and the middleware put into the context of every request. */
export type ApiEnv = { Bindings: HttpBindings; Variables: { requestId: string } };
export type Api = OpenAPIHono<ApiEnv>;
