/** Serves the Model Context Protocol at `/mcp`: streamable HTTP without sessions. */
import {
  createMcpHandler,
  localhostAllowedOrigins,
  originValidationResponse,
  ProtocolErrorCode,
} from "@modelcontextprotocol/server";
import type { Context } from "hono";
import { errorText, type Logger } from "../../lib/log.ts";
import type { Api, ApiEnv } from "../http/env.ts";
import { exceededBound } from "../http/request-members.ts";
import { KEY_HEADERS } from "../http/sent-key.ts";
import { createApiCall } from "./api-call.ts";
import { createCoverServer } from "./server.ts";

export type McpParts = {
  /** Public URL of the API without a trailing slash; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
  readonly log: Logger;
};

/** Headers of a request to `/mcp` that its calls to the API carry too: who asks, and what ties their log lines together. */
const PASSED_ON = [...KEY_HEADERS, "x-forwarded-for", "traceparent"] as const;

/** Bounds of a message; the largest valid one, a client's first, has about 30 members. */
const MESSAGE = { members: 500, depth: 12 };

/** The transport wants both types by name; a client that accepts everything, or says nothing, accepts them (RFC 9110, 12.5.1). */
function nameAcceptedTypes(c: Context): void {
  const accept = c.req.header("accept");
  if (accept === undefined || accept.includes("*/*"))
    c.req.raw.headers.set("accept", "application/json, text/event-stream");
}

const refuse = (c: Context, code: ProtocolErrorCode, message: string) =>
  c.json({ jsonrpc: "2.0", id: null, error: { code, message } }, 400);

function passedOn(c: Context<ApiEnv>): Record<string, string> {
  const headers: Record<string, string> = { "x-request-id": c.get("requestId") };
  for (const name of PASSED_ON) {
    const value = c.req.header(name);
    if (value !== undefined) headers[name] = value;
  }
  return headers;
}

/**
 * Adds `/mcp`. Its tools are requests to `app` with the client's address and key, so that each limit of the API applies to them as
 * to any other request. Pages of other origins are refused, because a browser on the local machine could be made to call it.
 */
export function addMcpRoute(app: Api, { publicUrl, log }: McpParts): void {
  const origins = [
    ...localhostAllowedOrigins(),
    ...(publicUrl === undefined ? [] : [new URL(publicUrl).hostname]),
  ];

  app.post("/mcp", async (c) => {
    const refused = originValidationResponse(c.req.raw, origins);
    if (refused) return refused;
    const parsedBody: unknown = await c.req.json().catch(() => undefined);
    nameAcceptedTypes(c);
    if (parsedBody === undefined)
      return refuse(c, ProtocolErrorCode.ParseError, "The body is not valid JSON.");
    // The protocol has had no batches since 2025-06-18, and each would count as one request.
    if (Array.isArray(parsedBody))
      return refuse(c, ProtocolErrorCode.InvalidRequest, "Send one message at a time.");
    const bound = exceededBound(parsedBody, MESSAGE);
    if (bound !== undefined) return refuse(c, ProtocolErrorCode.InvalidRequest, `The message ${bound}.`);
    const call = createApiCall((request) => app.fetch(request, c.env), {
      baseUrl: new URL(c.req.url).origin,
      headers: passedOn(c),
    });
    const handler = createMcpHandler(() => createCoverServer(call), {
      // Nothing that it offers changes while it runs.
      maxSubscriptions: 0,
      onerror: (error) =>
        log.debug({ requestId: c.get("requestId"), err: errorText(error) }, "refused an MCP message"),
    });
    const response = await handler.fetch(c.req.raw, { parsedBody });
    response.headers.set("Cache-Control", "no-store");
    return response;
  });
}
