/** How the OpenAPI document tells the limits: by one rule for all routes, so that none has to say it for itself. */
import type { Api } from "../env.ts";
import { failures } from "../error-envelope.ts";
import type { Standing } from "./limiter.ts";

const integer = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: "integer" as const, minimum, example },
});

const described = {
  "x-ratelimit-limit": integer(
    "Requests that the key, or without a key the client's address, may make until the limit is reset. On a 401 `unauthenticated`: refused credentials of the address.",
    1,
    120,
  ),
  "x-ratelimit-remaining": integer("What is left of them.", 0, 119),
  "x-ratelimit-reset": integer("Seconds until the limit is reset.", 1, 60),
};

/** The names of the headers, for pages of other origins. */
export const RATE_LIMIT_HEADERS: readonly string[] = Object.keys(described);

/** Says where the client stands, on whatever answer the request gets. */
export const rateLimitHeaders = ({ limit, remaining, resetSeconds }: Standing) =>
  [
    ["x-ratelimit-limit", String(limit)],
    ["x-ratelimit-remaining", String(remaining)],
    ["x-ratelimit-reset", String(resetSeconds)],
  ] as const;

const references = Object.fromEntries(
  RATE_LIMIT_HEADERS.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

type Credential = "none" | "apiKey" | "adminToken";

/**
 * Whether answers with this status tell a limit. Of the admin's, only those that refuse a token do; a body that is too
 * large is refused before anybody is counted.
 */
function tellsLimit(status: string, credential: Credential): boolean {
  if (credential === "adminToken") return status === "401" || status === "429";
  return status !== "413";
}

const credentialOf = (security: readonly Record<string, readonly string[]>[] | undefined): Credential => {
  if (security === undefined) return "none";
  return security.some((alternative) => "apiKey" in alternative) ? "apiKey" : "adminToken";
};

/**
 * Completes the routes that stand by now: each answer of a read without a credential, and each to a key, tells the limit,
 * and each 401 that of refused credentials (a signature that does not hold is none); all routes can be 429.
 */
export function documentRateLimits(app: Api): void {
  const registry = app.openAPIRegistry;
  for (const [name, header] of Object.entries(described)) {
    registry.registerComponent("headers", name, header);
  }
  for (const definition of registry.definitions) {
    if (definition.type !== "route") continue;
    const { route } = definition;
    const credential = credentialOf(route.security);
    const responses = { ...failures(), ...route.responses };
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response || !tellsLimit(status, credential)) continue;
      responses[status] = { ...response, headers: { ...response.headers, ...references } };
    }
    route.responses = responses;
  }
}
