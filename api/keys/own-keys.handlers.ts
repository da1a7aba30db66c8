import { ApiError } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { listKeysRoute, revokeOwnKeyRoute } from "./own-keys.routes.ts";
import { listKeys, revokeKey } from "./store.ts";

/** What a wallet sees of its own keys, and takes out of use. */
export function addAgentKeyRoutes(app: Api, deps: Dependencies): void {
  const { db } = deps.connection;
  const apiKey = requireApiKey(deps);

  app.openapi({ ...listKeysRoute, middleware: [apiKey] as const }, async (c) => {
    const { wallet, keyId: current } = c.get("agent");
    const page = c.req.valid("query");
    const { keys, total } = await fromDatabase(() => listKeys(db, wallet, page));
    const shown = keys.map(({ createdAt, lastUsedAt, ...key }) => ({
      ...key,
      createdAt: createdAt.toISOString(),
      lastUsedAt: lastUsedAt?.toISOString() ?? null,
      current: key.keyId === current,
    }));
    return c.json({ wallet, count: shown.length, total, ...page, keys: shown }, 200);
  });

  app.openapi({ ...revokeOwnKeyRoute, middleware: [apiKey] as const }, async (c) => {
    const { keyId } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const revokedAt = await fromDatabase(() => revokeKey(db, keyId, wallet));
    if (!revokedAt) throw new ApiError("key_not_found", `${wallet} has no key ${keyId}.`);
    return c.json({ ok: true, keyId, revokedAt: revokedAt.toISOString() }, 200);
  });
}
