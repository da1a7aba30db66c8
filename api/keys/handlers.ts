import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import {
  type AdminTokenParts,
  anyScope,
  type RequireApiKey,
  requireAdminToken,
} from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { isLimited, readPremiumOfDay } from "../http/key-limits.ts";
import { keyLimitsBody } from "../http/key-schemas.ts";
import { generateKeyRoute, listKeysRoute, meRoute, revokeKeyRoute, revokeOwnKeyRoute } from "./routes.ts";
import { issuedKeyBody, requestedLimits } from "./schemas.ts";
import { issueKey, listKeys, revokeKey } from "./store.ts";

export type KeyParts = AdminTokenParts & {
  readonly connection: Connection;
  readonly apiKey: RequireApiKey;
};

/** The operator issues and revokes keys; a holder looks up its key, and lists and revokes its wallet's keys. */
export function addKeyRoutes(app: Api, parts: KeyParts): void {
  const { connection, apiKey } = parts;
  const { sql } = connection;
  const admin = requireAdminToken(parts);

  app.openapi({ ...generateKeyRoute, middleware: [admin] as const }, async (c) => {
    const { wallet, label = null, tier, ...rest } = c.req.valid("json");
    const limits = requestedLimits(rest);
    const key = await fromDatabase(() => sql.begin((tx) => issueKey(tx, { wallet, label, tier, limits })));
    return c.json(issuedKeyBody(key), 201);
  });

  app.openapi({ ...revokeKeyRoute, middleware: [admin] as const }, async (c) => {
    const { id: keyId } = c.req.valid("param");
    const revokedAt = await fromDatabase(() => revokeKey(sql, keyId));
    if (!revokedAt) throw new ApiError("key_not_found", `There is no key ${keyId}.`);
    return c.json({ ok: true, keyId, revokedAt: revokedAt.toISOString() }, 200);
  });

  app.openapi({ ...meRoute, middleware: [apiKey(...anyScope)] as const }, async (c) => {
    const { limits, ...holder } = c.get("holder");
    const { maxPremiumPerDay: ofDay } = limits;
    const left = ofDay && ofDay - (await fromDatabase(() => readPremiumOfDay(sql, holder.keyId)));
    const premiumLeftToday = left === null ? null : String(left < 0n ? 0n : left);
    return c.json({ ok: true, ...holder, ...keyLimitsBody(limits), premiumLeftToday }, 200);
  });

  app.openapi({ ...listKeysRoute, middleware: [apiKey("read")] as const }, async (c) => {
    const { wallet, keyId: current } = c.get("holder");
    const page = c.req.valid("query");
    const { keys, total } = await fromDatabase(() => listKeys(sql, wallet, page));
    const shown = keys.map(({ createdAt, lastUsedAt, limits, ...key }) => ({
      ...key,
      ...keyLimitsBody(limits),
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      revokedAt: null,
      current: key.keyId === current,
    }));
    return c.json({ wallet, count: shown.length, total, ...page, keys: shown }, 200);
  });

  app.openapi({ ...revokeOwnKeyRoute, middleware: [apiKey(...anyScope)] as const }, async (c) => {
    const { keyId } = c.req.valid("param");
    const { wallet, limits, keyId: own } = c.get("holder");
    if (keyId !== own && isLimited(limits)) {
      throw new ApiError("insufficient_scope", "A key with limits revokes only itself.");
    }
    const revokedAt = await fromDatabase(() => revokeKey(sql, keyId, wallet));
    if (!revokedAt) throw new ApiError("key_not_found", `${wallet} has no key ${keyId}.`);
    return c.json({ ok: true, keyId, revokedAt: revokedAt.toISOString() }, 200);
  });
}
