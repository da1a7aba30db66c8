import { z } from "@hono/zod-openapi";
import { failures } from "../http/error-envelope.ts";
import { createRoute } from "../http/route.ts";

export const openApiRoute = createRoute({
  method: "get",
  path: "/openapi.json",
  operationId: "getOpenApi",
  tags: ["discovery"],
  summary: "Get the OpenAPI document",
  responses: {
    200: {
      description: "OpenAPI 3.0.3.",
      content: {
        "application/json": {
          schema: z
            .object({ openapi: z.literal("3.0.3") })
            .catchall(z.unknown())
            .openapi("OpenApiDocument"),
        },
      },
    },
    ...failures("internal_error"),
  },
});

export const explorerRoute = createRoute({
  method: "get",
  path: "/api-docs",
  operationId: "getExplorer",
  tags: ["discovery"],
  summary: "Open the API explorer",
  responses: {
    200: { description: "The page.", content: { "text/html": { schema: z.string() } } },
    ...failures("internal_error"),
  },
});
