import { createHash, timingSafeEqual } from "node:crypto";
import type { Context, MiddlewareHandler } from "hono";
import type { Sql } from "postgres";
import { ApiError } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { DEV_ADMIN_TOKEN } from "../../lib/off-local.ts";
import { valueWithin } from "../../lib/timeout.ts";
import {
  type FindHolder,
  type FoundHolder,
  isWellFormedKey,
  type KeyHolder,
  type KeyTier,
  noteKeyUse,
} from "./api-keys.ts";
import { fromDatabase } from "./dependency-timeout.ts";
import type { ApiEnv } from "./env.ts";
import { type KeyScope, keyScopes, requireScope } from "./key-limits.ts";
import { containsKey } from "./keys-in-urls.ts";
import type { Limiter } from "./limits/limiter.ts";
import {
  type ClientOf,
  type CountByKey,
  type GuessLimits,
  type KeyUse,
  limitFailures,
  limitFreeKeys,
  limitGuesses,
  limitKey,
} from "./limits/middleware.ts";
import { sentKey } from "./sent-key.ts";

export type KeyHolderEnv = ApiEnv & { Variables: { holder: KeyHolder } };
/** Lets requests with a valid API key through that has one of these scopes. */
export type RequireApiKey = (...anyOf: readonly KeyScope[]) => MiddlewareHandler<KeyHolderEnv>;

/** Every valid key has at least one. */
export const anyScope = keyScopes;

const unauthenticated = (message: string) => new ApiError("unauthenticated", message);

/** Parameter names under which clients put keys into URLs. */
const KEY_PARAMETERS = /^(x[-_])?(api[-_]?key|admin[-_]?token|key|token)$/i;

function refuseKeyInUrl(url: string, header: string): void {
  const { pathname, searchParams } = new URL(url);
  const parameters = [...searchParams];
  if (
    containsKey(decodeURIComponent(pathname)) ||
    parameters.some(([name, value]) => KEY_PARAMETERS.test(name) || containsKey(name) || containsKey(value))
  ) {
    throw unauthenticated(
      `A key in the URL is refused, because URLs are logged on their way: send it in the header ${header}.`,
    );
  }
}

export type ApiKeyParts = {
  readonly sql: Sql;
  readonly findHolder: FindHolder;
  readonly limits: {
    readonly failedKeys: Limiter;
    readonly keys: Readonly<Record<KeyTier, Limiter>>;
    readonly freeKeyReads: Limiter;
  };
  readonly clientOf: ClientOf;
  readonly log: Logger;
};

/** Counts the use of a key by its id, and notes it when that is due. */
async function countUse(
  { sql, log }: Pick<ApiKeyParts, "sql" | "log">,
  { holder, useIsDue }: FoundHolder,
  limiter: Limiter,
): Promise<KeyUse> {
  if (useIsDue) {
    // Not awaited: the response does not depend on it.
    noteKeyUse(sql, holder.keyId).catch((error) =>
      log.warn({ err: errorText(error) }, "could not note the use of a key"),
    );
  }
  return { limiter, status: await limiter.consume(String(holder.keyId)) };
}

/** Applies the limit of a key, and of the free keys of its address. @throws ApiError `rate_limit` */
async function limitReads(
  c: Context,
  { limits, clientOf }: Pick<ApiKeyParts, "limits" | "clientOf">,
  { use, tier }: { use: KeyUse; tier: KeyTier },
): Promise<void> {
  limitKey(c, use);
  if (tier === "free") await limitFreeKeys(c, limits.freeKeyReads, clientOf);
}

/**
 * Sets `holder` in the context for a valid key with one of the scopes, within the key's rate limit; answers 401 or 403
 * otherwise. A valid key passes also from an address with too many refused ones: with its 256 random bits no number of
 * guesses finds it. With `reads` that limit counts in place of the key's, and the address's limit of free keys beside it.
 */
export function requireApiKey(parts: ApiKeyParts, reads?: Limiter): RequireApiKey {
  const { findHolder, limits, clientOf } = parts;
  const holderOf = async (c: Context) => {
    refuseKeyInUrl(c.req.url, "x-api-key");
    const key = sentKey(c);
    if (key === undefined)
      throw unauthenticated(
        "The key is missing: send it in the header x-api-key, or as Authorization: Bearer.",
      );
    if (!isWellFormedKey(key))
      throw unauthenticated("The key is malformed: a key is lk_ and 64 lowercase hex digits.");
    const found = await fromDatabase(() => findHolder(key));
    if (!found) throw unauthenticated("The key is unknown or was revoked.");
    return found;
  };
  return (...anyOf) =>
    async (c, next) => {
      const found = await limitFailures(c, limits.failedKeys, clientOf, () => holderOf(c));
      c.set("holder", found.holder);
      c.header("Cache-Control", "no-store");
      const { tier, limits: ofKey } = found.holder;
      const use = await countUse(parts, found, reads ?? limits.keys[tier]);
      if (reads) await limitReads(c, parts, { use, tier });
      else limitKey(c, use);
      requireScope(ofKey, anyOf);
      await next();
    };
}

/** Longest wait for a public read's key to be looked up and counted, in ms; the read itself may still need its own time. */
const OPTIONAL_KEY_TIMEOUT_MS = 1000;

/**
 * Counts public reads for the key that they bring, and with a free key for the client address too. A key that is not valid, or that
 * cannot be looked up and counted now, is ignored: the read needs none. Two different keys are refused.
 */
export function countOptionalKey(parts: ApiKeyParts): CountByKey {
  const { limits, clientOf } = parts;
  const useOf = async (key: string) => {
    const found = await parts.findHolder(key);
    if (!found) return undefined;
    const { tier } = found.holder;
    return { use: await countUse(parts, found, limits.keys[tier]), tier };
  };
  return async (c) => {
    const key = await limitFailures(c, limits.failedKeys, clientOf, async () => sentKey(c));
    if (key === undefined) return false;
    const counted = await valueWithin(OPTIONAL_KEY_TIMEOUT_MS, useOf(key));
    if (!counted) return false;
    await limitReads(c, parts, counted);
    return true;
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

export type AdminTokenParts = {
  readonly adminToken: string;
  readonly limits: { readonly failedAdminTokens: GuessLimits };
  readonly clientOf: ClientOf;
  readonly isLocalChain: () => Promise<boolean>;
};

/** Lets requests with the admin token through. Tokens are compared by their hashes, in constant time. */
export function requireAdminToken(parts: AdminTokenParts): MiddlewareHandler<ApiEnv> {
  const { adminToken, limits, clientOf, isLocalChain } = parts;
  const expected = sha256(adminToken);
  // The default token is public: it is valid only once the node has proved to be a local chain's.
  const isAllowed = async () => adminToken !== DEV_ADMIN_TOKEN || isLocalChain();
  const check = async (url: string, token: string | undefined): Promise<void> => {
    refuseKeyInUrl(url, "x-admin-token");
    if (token === undefined) throw unauthenticated("The header x-admin-token is missing.");
    if (!timingSafeEqual(sha256(token), expected)) throw unauthenticated("The admin token is wrong.");
  };
  return async (c, next) => {
    const credential = c.req.header("x-admin-token");
    await limitGuesses(c, limits.failedAdminTokens, clientOf, {
      credential,
      check: () => check(c.req.url, credential),
    });
    if (!(await isAllowed())) {
      throw new ApiError("forbidden", "The default admin token is for local chains only: set ADMIN_TOKEN.");
    }
    c.header("Cache-Control", "no-store");
    await next();
  };
}
