import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { addStop, keyExists, listStops, targetText, targetWarning } from "../../lib/ledger/stops.ts";
import type { Logger } from "../../lib/log.ts";
import { webhookFigures } from "../../lib/webhooks/figures.ts";
import { type AdminTokenParts, requireAdminToken } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { readKeys } from "./key-queries.ts";
import { keysBody, keysRoute } from "./key-routes.ts";
import { ledgerBody } from "./ledger-body.ts";
import { readLedger } from "./ledger-queries.ts";
import { ledgerRoute } from "./ledger-routes.ts";
import { stopBody, stopRoute, stopsBody, stopsRoute, targetOf } from "./stop-routes.ts";
import { readLateWebhooks } from "./webhook-queries.ts";
import { webhooksBody, webhooksRoute } from "./webhook-routes.ts";

export type AdminParts = AdminTokenParts & {
  readonly connection: Connection;
  /** The main chain, whose webhooks are counted. */
  readonly deployment: { readonly chainId: number };
  readonly log: Logger;
};

/** The operator reads keys, stops, ledger and webhooks, and stops spending. Resuming takes `npm run ledger`. */
export function addAdminRoutes(app: Api, parts: AdminParts): void {
  const { connection, deployment, log } = parts;
  const { sql } = connection;
  const admin = requireAdminToken(parts);

  app.openapi({ ...keysRoute, middleware: [admin] as const }, async (c) => {
    const page = c.req.valid("query");
    return c.json(keysBody(await fromDatabase(() => readKeys(sql, page)), page.limit), 200);
  });

  app.openapi({ ...stopsRoute, middleware: [admin] as const }, async (c) => {
    const { limit, cursor } = c.req.valid("query");
    const stops = await fromDatabase(() => listStops(sql, { limit: limit + 1, after: cursor }));
    return c.json(stopsBody(stops, limit), 200);
  });

  app.openapi({ ...stopRoute, middleware: [admin] as const }, async (c) => {
    const body = c.req.valid("json");
    const target = targetOf(body);
    if (target.scope === "key" && !(await fromDatabase(() => keyExists(sql, target.keyId)))) {
      throw new ApiError("key_not_found", `There is no key ${target.keyId}.`);
    }
    const { stop, isNew } = await fromDatabase(() => addStop(sql, target, body.reason));
    const warning = await fromDatabase(() => targetWarning(sql, target));
    if (isNew) {
      const requestId = c.get("requestId");
      log.warn({ requestId, target: targetText(target), reason: stop.reason }, "stopped by the operator");
    }
    const answer = { ok: true as const, ...stopBody(stop), alreadyStopped: !isNew, warning };
    return c.json(answer, isNew ? 201 : 200);
  });

  app.openapi({ ...ledgerRoute, middleware: [admin] as const }, async (c) => {
    const page = c.req.valid("query");
    return c.json(ledgerBody(await fromDatabase(() => readLedger(sql, page)), page.limit), 200);
  });

  app.openapi({ ...webhooksRoute, middleware: [admin] as const }, async (c) => {
    const page = c.req.valid("query");
    const [figures, webhooks] = await fromDatabase(() =>
      Promise.all([webhookFigures(sql, deployment.chainId), readLateWebhooks(sql, page)]),
    );
    return c.json(webhooksBody(figures, webhooks, page.limit), 200);
  });
}
