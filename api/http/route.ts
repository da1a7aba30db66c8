import { createRoute as createOpenApiRoute, type RouteConfig, z } from "@hono/zod-openapi";
import { failures } from "./error-envelope.ts";
import { bodyOf } from "./request-members.ts";
import { requestObject } from "./request-object.ts";

const JSON_TYPE = "application/json";
export const noQuery = requestObject({});

type RequestBody = NonNullable<NonNullable<RouteConfig["request"]>["body"]>;

function boundedBody(body: RequestBody): RequestBody {
  const media = body.content[JSON_TYPE];
  if (!media || !("schema" in media) || !(media.schema instanceof z.ZodType)) return body;
  return { ...body, content: { ...body.content, [JSON_TYPE]: { ...media, schema: bodyOf(media.schema) } } };
}

/**
 * As the library's, for routes that refuse what their document does not name: one without a query takes none. A body is bounded,
 * and its null members are absent.
 */
export function createRoute<Path extends string, Route extends Omit<RouteConfig, "path"> & { path: Path }>(
  route: Route,
) {
  const { body } = route.request ?? {};
  const responses = { ...failures("validation_error"), ...route.responses };
  const request = { query: noQuery, ...route.request, ...(body && { body: boundedBody(body) }) };
  return createOpenApiRoute<Path, Route>({ ...route, request, responses });
}
