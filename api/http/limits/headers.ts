/** The headers that tell a client its rate limit. */
import type { RateLimitStatus } from "./limiter.ts";

/** Their descriptions in the OpenAPI document. */
export const rateLimitHeaderDocs = {
  "x-ratelimit-limit": {
    description:
      "Requests of the limit that counted this one, per window: the key's, or without a key the client address's. On a 401 `unauthenticated`: refused credentials of the address.",
    schema: { type: "integer" as const, minimum: 1, example: 120 },
  },
  "x-ratelimit-remaining": {
    description: "Requests left in this window.",
    schema: { type: "integer" as const, minimum: 0, example: 119 },
  },
  "x-ratelimit-reset": {
    description: "Seconds until the window ends.",
    schema: { type: "integer" as const, minimum: 1, example: 60 },
  },
};

/** The names of the headers. */
export const RATE_LIMIT_HEADERS: readonly string[] = Object.keys(rateLimitHeaderDocs);

/** The headers for a client's status, as names and values. */
export const rateLimitHeaders = ({ limit, remaining, resetSeconds }: RateLimitStatus) =>
  [
    ["x-ratelimit-limit", String(limit)],
    ["x-ratelimit-remaining", String(remaining)],
    ["x-ratelimit-reset", String(resetSeconds)],
  ] as const;
