import { Hono } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";

/** Names and values of the headers on every response. */
export type CommonHeaders = readonly (readonly [name: string, value: string])[];

/** Lets pages of any origin call the API and read its headers. The API uses no cookies. */
export const crossOrigin = cors({
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST", "DELETE"],
  // The admin token is left out on purpose.
  allowHeaders: [
    "Content-Type",
    "x-api-key",
    "Authorization",
    "Idempotency-Key",
    "If-None-Match",
    "Prefer",
    "traceparent",
    // of the Model Context Protocol
    "mcp-protocol-version",
    "mcp-method",
    "mcp-name",
  ],
  // All headers, for requests without cookies. With cookies browsers refuse the answer anyway, because of origin "*".
  exposeHeaders: ["*"],
  maxAge: 600,
});

/**
 * Reads the headers that Hono's CORS and security middleware set, once: they never change, and setting them for each
 * request costs more than most responses do. The server adds them to every answer.
 */
export async function readCommonHeaders(): Promise<CommonHeaders> {
  const app = new Hono().use(
    crossOrigin,
    secureHeaders({
      crossOriginResourcePolicy: "cross-origin",
      xFrameOptions: "DENY",
      // These concern pages that open windows or save files, and old browsers; nearly all responses here are data.
      crossOriginOpenerPolicy: false,
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
  const response = await app.get("/", (c) => c.body(null)).request("/");
  return [...response.headers];
}
