import { createHash, timingSafeEqual } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import { DEV_ADMIN_TOKEN } from "../../lib/config.ts";
import { ApiError } from "../../lib/errors.ts";
import { errorText } from "../../lib/log.ts";
import { createLocality } from "../chain/is-local.ts";
import type { Dependencies } from "../dependencies.ts";
import { type Agent, noteKeyUse } from "../keys/store.ts";
import { fromDatabase } from "./dependency-timeout.ts";
import type { ApiEnv } from "./env.ts";
import { isWellFormedKey } from "./key-format.ts";
import { holdsKey } from "./keys-in-addresses.ts";
import { limitFailures, limitKey } from "./limits/middleware.ts";

export type AgentEnv = { Variables: ApiEnv["Variables"] & { agent: Agent } };

const unauthenticated = (message: string) => new ApiError("unauthenticated", message);

/** Names under which people put keys into addresses. */
const KEY_PARAMETERS = /^(x[-_])?(api[-_]?key|admin[-_]?token|key|token)$/i;

function refuseKeyInUrl(url: string, header: string): void {
  const { pathname, searchParams } = new URL(url);
  const parameters = [...searchParams];
  if (
    holdsKey(decodeURIComponent(pathname)) ||
    parameters.some(([name, value]) => KEY_PARAMETERS.test(name) || holdsKey(name) || holdsKey(value))
  ) {
    throw unauthenticated(
      `A key in the address is refused, for addresses end up in logs: send it in the header ${header}.`,
    );
  }
}

/**
 * Lets holders of a valid key through, up to the key's limit, and puts who they are into the context; 401 for everybody
 * else.
 */
export function requireApiKey(deps: Dependencies): MiddlewareHandler<AgentEnv> {
  const { connection, findHolder, log, limits, clientOf } = deps;
  const holderOf = async (url: string, key: string | undefined) => {
    refuseKeyInUrl(url, "x-api-key");
    if (key === undefined) throw unauthenticated("The header x-api-key is missing.");
    if (!isWellFormedKey(key))
      throw unauthenticated("The key is malformed: a key is lk_ and 64 lowercase hex digits.");
    const holder = await fromDatabase(() => findHolder(key));
    if (!holder) throw unauthenticated("The key is unknown or was revoked.");
    return holder;
  };
  return async (c, next) => {
    const { agent, useIsDue } = await limitFailures(c, limits.failedKeys, clientOf, () =>
      holderOf(c.req.url, c.req.header("x-api-key")),
    );
    c.set("agent", agent);
    c.header("Cache-Control", "no-store");
    if (useIsDue) {
      // Not waited for: the answer does not depend on it.
      noteKeyUse(connection.sql, agent.keyId).catch((error) =>
        log.warn({ err: errorText(error) }, "key use not noted"),
      );
    }
    await limitKey(c, limits.keys[agent.tier], agent.keyId);
    await next();
  };
}

const sha256 = (text: string) => createHash("sha256").update(text).digest();

/** Lets holders of the admin token through. Tokens are compared by their hashes, in constant time. */
export function requireAdminToken(deps: Dependencies): MiddlewareHandler<ApiEnv> {
  const expected = sha256(deps.adminToken);
  const isLocal = createLocality(deps);
  // The default token is known to everybody: nobody gets in with it until the chain was found to be a local one.
  const allowed = async () => deps.adminToken !== DEV_ADMIN_TOKEN || isLocal();
  const check = async (url: string, token: string | undefined): Promise<void> => {
    refuseKeyInUrl(url, "x-admin-token");
    if (token === undefined) throw unauthenticated("The header x-admin-token is missing.");
    if (!timingSafeEqual(sha256(token), expected)) throw unauthenticated("The admin token is wrong.");
  };
  return async (c, next) => {
    await limitFailures(c, deps.limits.failedAdminTokens, deps.clientOf, () =>
      check(c.req.url, c.req.header("x-admin-token")),
    );
    if (!(await allowed())) {
      throw new ApiError("forbidden", "The default admin token is for local chains only: set ADMIN_TOKEN.");
    }
    c.header("Cache-Control", "no-store");
    await next();
  };
}
