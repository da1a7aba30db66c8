/** The API key that a request brings: in the header `x-api-key`, or as `Authorization: Bearer`. */
import type { Context } from "hono";
import { ApiError } from "../../lib/errors.ts";

/** The headers that may carry a key. */
export const KEY_HEADERS = ["x-api-key", "authorization"] as const;

/** The token of `Authorization: Bearer`; undefined for other schemes, which are for a proxy. */
function bearerToken(authorization = ""): string | undefined {
  const [scheme = "", ...token] = authorization.split(" ");
  return scheme.toLowerCase() === "bearer" ? token.join(" ").trim() : undefined;
}

/** An empty header is none. */
const keysOf = (c: Context): string[] =>
  [c.req.header("x-api-key"), bearerToken(c.req.header("authorization"))].flatMap((key) => key || []);

/** Whether a request brings a key, valid or not. */
export const bringsKey = (c: Context): boolean => keysOf(c).length > 0;

/**
 * The key of a request; undefined when it brings none.
 * @throws ApiError `unauthenticated` when its two headers have different keys
 */
export function sentKey(c: Context): string | undefined {
  const [key, other = key] = keysOf(c);
  if (key === other) return key;
  throw new ApiError(
    "unauthenticated",
    "The headers x-api-key and Authorization have different keys: send one.",
  );
}
