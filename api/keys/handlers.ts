import { ApiError } from "../../lib/errors.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireAdminToken, requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { generateKeyRoute, meRoute, revokeKeyRoute } from "./routes.ts";
import { issuedKeyBody } from "./schemas.ts";
import { issueKey, revokeKey } from "./store.ts";

/** Issuing and revoking keys by the operator, and a key's question who it is. */
export function addKeyRoutes(app: Api, deps: Dependencies): void {
  const { db } = deps.connection;
  const admin = requireAdminToken(deps);

  app.openapi({ ...generateKeyRoute, middleware: [admin] as const }, async (c) => {
    const { wallet, label = null, tier } = c.req.valid("json");
    const key = await fromDatabase(() => issueKey(db, { wallet, label, tier }));
    return c.json(issuedKeyBody(key), 201);
  });

  app.openapi({ ...revokeKeyRoute, middleware: [admin] as const }, async (c) => {
    const { id: keyId } = c.req.valid("param");
    const revokedAt = await fromDatabase(() => revokeKey(db, keyId));
    if (!revokedAt) throw new ApiError("key_not_found", `There is no key ${keyId}.`);
    return c.json({ ok: true, keyId, revokedAt: revokedAt.toISOString() }, 200);
  });

  app.openapi({ ...meRoute, middleware: [requireApiKey(deps)] as const }, (c) =>
    c.json({ ok: true, ...c.get("agent") }, 200),
  );
}
