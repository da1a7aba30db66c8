import { Hono } from "hono";
import { cors } from "hono/cors";
import { secureHeaders } from "hono/secure-headers";
import { RATE_LIMIT_HEADERS } from "./limits/document.ts";

/** Names and values of the headers that stand on every answer. */
export type StandingHeaders = readonly (readonly [name: string, value: string])[];

/** Answers where a page of another origin asks what it may send; and lets it read ours. No cookie ever counts here. */
export const crossOrigin = cors({
  origin: "*",
  allowMethods: ["GET", "HEAD", "POST", "DELETE"],
  // The admin token is not among them.
  allowHeaders: ["Content-Type", "x-api-key", "Idempotency-Key", "If-None-Match"],
  exposeHeaders: [
    "Retry-After",
    "Location",
    "ETag",
    "x-indexed-block",
    "x-chain-block",
    "x-request-id",
    "Idempotency-Key",
    ...RATE_LIMIT_HEADERS,
  ],
  maxAge: 600,
});

/**
 * What Hono's middleware for other origins and for security sets, found out once: it is the same each time, and to set
 * it anew costs more than most answers do. The server puts these headers on every answer to a request; bytes that are none get the envelope alone.
 */
export async function standingHeaders(): Promise<StandingHeaders> {
  const app = new Hono().use(
    crossOrigin,
    secureHeaders({
      crossOriginResourcePolicy: "cross-origin",
      xFrameOptions: "DENY",
      // They concern pages that open windows, save files or run in browsers of old; nearly all answers here are data.
      crossOriginOpenerPolicy: false,
      originAgentCluster: false,
      xDnsPrefetchControl: false,
      xDownloadOptions: false,
      xPermittedCrossDomainPolicies: false,
      xXssProtection: false,
    }),
  );
  const answer = await app.get("/", (c) => c.body(null)).request("/");
  return [...answer.headers];
}
