import type { ReadClient } from "../../lib/chain/client.ts";
import type { Connection } from "../../lib/db/connect.ts";
import type { Deployment, IncompleteDeployment } from "../../lib/deployments.ts";
import { ApiError } from "../../lib/errors.ts";
import { isKnownWallet, keyExists, listStops } from "../../lib/ledger/stops.ts";
import type { Logger } from "../../lib/log.ts";
import { type AdminTokenParts, requireAdminToken } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { cutPage } from "../http/paging.ts";
import { addStop } from "./add-stop.ts";
import { getKeeperRoute, readKeeper } from "./keeper-routes.ts";
import { listAllKeys } from "./key-queries.ts";
import { listAllKeysRoute, operatorKeyBody } from "./key-routes.ts";
import { readLedger } from "./ledger-body.ts";
import { getLedgerRoute } from "./ledger-routes.ts";
import { listStopsRoute, operatorStopBody, setStopRoute, stopCursorOf, targetOf } from "./stop-routes.ts";
import { listWaitingWebhooks } from "./webhook-queries.ts";
import { listWaitingWebhooksRoute, operatorWebhookBody } from "./webhook-routes.ts";

export type OperatorParts = AdminTokenParts & {
  readonly connection: Connection;
  readonly deployment: Deployment | IncompleteDeployment;
  /** Reads the main chain. */
  readonly client: ReadClient;
  readonly testnet: { readonly deployment: Deployment; readonly client: ReadClient } | undefined;
  readonly log: Logger;
};

/** The operator looks at keys, stops, the ledger, the keeper and webhooks, and stops spending; nothing here lifts a stop. */
export function addOperatorRoutes(app: Api, parts: OperatorParts): void {
  const { connection, deployment, client, testnet, log } = parts;
  const { sql } = connection;
  const { chainId } = deployment;
  const admin = requireAdminToken(parts);
  const clients = new Map([[chainId, client]]);
  if (testnet) clients.set(testnet.deployment.chainId, testnet.client);

  app.openapi({ ...listAllKeysRoute, middleware: [admin] as const }, async (c) => {
    const { limit, ...query } = c.req.valid("query");
    const found = await fromDatabase(() => listAllKeys(sql, { ...query, limit: limit + 1 }));
    const { rows, next } = cutPage(found, limit, ({ keyId }) => String(keyId));
    return c.json({ count: rows.length, limit, nextCursor: next, keys: rows.map(operatorKeyBody) }, 200);
  });

  app.openapi({ ...listStopsRoute, middleware: [admin] as const }, async (c) => {
    const { limit, cursor: after } = c.req.valid("query");
    const found = await fromDatabase(() => listStops(sql, { limit: limit + 1, after }));
    const { rows, next } = cutPage(found, limit, stopCursorOf);
    return c.json({ count: rows.length, limit, nextCursor: next, stops: rows.map(operatorStopBody) }, 200);
  });

  app.openapi({ ...setStopRoute, middleware: [admin] as const }, async (c) => {
    const body = c.req.valid("json");
    const target = targetOf(body);
    if (target.scope === "key" && !(await fromDatabase(() => keyExists(sql, target.keyId)))) {
      throw new ApiError("key_not_found", `There is no key ${target.keyId}.`);
    }
    const { stop, isNew } = await fromDatabase(() => addStop(sql, target, body.reason));
    if (isNew) log.warn({ ...target, reason: stop.reason }, "the operator has set a stop");
    const known = target.scope !== "wallet" || (await fromDatabase(() => isKnownWallet(sql, target.wallet)));
    const answer = { ok: true, alreadyStopped: !isNew, known, stop: operatorStopBody(stop) } as const;
    return c.json(answer, isNew ? 201 : 200);
  });

  app.openapi({ ...getLedgerRoute, middleware: [admin] as const }, async (c) =>
    c.json(await readLedger({ sql, clients }, c.req.valid("query")), 200),
  );

  app.openapi({ ...getKeeperRoute, middleware: [admin] as const }, async (c) => {
    const page = c.req.valid("query");
    return c.json(await fromDatabase(() => readKeeper(sql, chainId, page)), 200);
  });

  app.openapi({ ...listWaitingWebhooksRoute, middleware: [admin] as const }, async (c) => {
    const { limit, cursor: after = 0 } = c.req.valid("query");
    const found = await fromDatabase(() => listWaitingWebhooks(sql, chainId, { limit: limit + 1, after }));
    const { rows, next } = cutPage(found, limit, ({ id }) => String(id));
    return c.json(
      { count: rows.length, limit, nextCursor: next, webhooks: rows.map(operatorWebhookBody) },
      200,
    );
  });
}
