/** How the OpenAPI document tells the limits: by one rule for all routes, so that none has to say it for itself. */
import type { Api } from "../env.ts";
import type { Standing } from "../limits/limiter.ts";
import { failures } from "./error.ts";

const integer = (description: string, minimum: number, example: number) => ({
  description,
  schema: { type: "integer" as const, minimum, example },
});

const described = {
  "x-ratelimit-limit": integer("Requests that the client's address may make in a minute.", 1, 120),
  "x-ratelimit-remaining": integer("Requests left until the limit is reset.", 0, 119),
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

/** Whether answers with this status tell a limit: with a credential, only those that refuse one do. */
const tellsLimit = (status: string, needsCredential: boolean) =>
  !needsCredential || status === "401" || status === "429";

/**
 * Completes the routes that stand by now: each answer of a read without a credential tells the limit, and each 401 tells
 * that of refused credentials; both can be 429.
 */
export function documentRateLimits(app: Api): void {
  const registry = app.openAPIRegistry;
  for (const [name, header] of Object.entries(described)) {
    registry.registerComponent("headers", name, header);
  }
  for (const definition of registry.definitions) {
    if (definition.type !== "route") continue;
    const { route } = definition;
    const needsCredential = route.security !== undefined;
    const responses = { ...route.responses, ...failures("rate_limit") };
    for (const [status, response] of Object.entries(responses)) {
      if ("$ref" in response || !tellsLimit(status, needsCredential)) continue;
      responses[status] = { ...response, headers: { ...response.headers, ...references } };
    }
    route.responses = responses;
  }
}
