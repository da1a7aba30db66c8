import type { OpenAPIHono } from "@hono/zod-openapi";

/** What the middleware puts into the context of every request. */
export type ApiEnv = { Variables: { requestId: string } };
export type Api = OpenAPIHono<ApiEnv>;
