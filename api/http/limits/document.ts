/** Documents the rate limits of all routes by one rule, so that no route has to repeat them. */
import type { Api } from "../env.ts";
import { failures } from "../error-envelope.ts";
import { RATE_LIMIT_HEADERS, rateLimitHeaderDocs } from "./headers.ts";

const references = Object.fromEntries(
  RATE_LIMIT_HEADERS.map((name) => [name, { $ref: `#/components/headers/${name}` }]),
);

type Credential = "none" | "apiKey" | "adminToken";

/**
 * Whether responses with this status carry the rate-limit headers. With an admin token only refusals do; a body that is
 * too large is refused before it is counted.
 */
function hasLimitHeaders(status: string, credential: Credential): boolean {
  if (credential === "adminToken") return status === "401" || status === "429";
  return status !== "413";
}

const credentialOf = (security: readonly Record<string, readonly string[]>[] | undefined): Credential => {
  if (security === undefined) return "none";
  return security.some((alternative) => "apiKey" in alternative) ? "apiKey" : "adminToken";
};

/**
 * Adds 429 to every route registered so far, and the rate-limit headers to the responses that carry them. To be called once all
 * routes are registered.
 */
export function documentRateLimits(app: Api): void {
  const registry = app.openAPIRegistry;
  for (const [name, header] of Object.entries(rateLimitHeaderDocs)) {
    registry.registerComponent("headers", name, header);
  }
  for (const definition of registry.definitions) {
    if (definition.type !== "route") continue;
    const { route } = definition;
    const credential = credentialOf(route.security);
    const responses = { ...failures(), ...route.responses };
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response || !hasLimitHeaders(status, credential)) continue;
      responses[status] = { ...response, headers: { ...response.headers, ...references } };
    }
    route.responses = responses;
  }
}
