import type { Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { cutPage } from "../http/paging.ts";
import { type WebhookCalls, webhookNotFound } from "./calls.ts";
import {
  listDeliveriesRoute,
  replayDeliveryRoute,
  replayEventsRoute,
  retryWebhookRoute,
  testWebhookRoute,
} from "./deliveries.routes.ts";
import { deliveryBody } from "./deliveries.schemas.ts";
import { readWebhook } from "./store.ts";
import { listDeliveries } from "./store-deliveries.ts";

/** What is sent to a wallet's webhooks: samples, what became of it, and all of it once more. */
export function addWebhookDeliveryRoutes(app: Api, deps: Dependencies, calls: WebhookCalls): void {
  const { db } = deps.connection;
  const { chainId: chain } = deps.deployment;
  const apiKey = requireApiKey(deps);

  app.openapi({ ...retryWebhookRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    return c.json({ ok: true, id, scheduled: await calls.retry({ chain, wallet }, id) }, 200);
  });

  app.openapi({ ...testWebhookRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const delivery = deliveryBody(await calls.test({ chain, wallet }, id, c.req.raw.signal));
    return c.json({ ok: true, id, delivered: delivery.state === "delivered", delivery }, 200);
  });

  app.openapi({ ...listDeliveriesRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const { limit, offset, cursor, state } = c.req.valid("query");
    if (!(await fromDatabase(() => readWebhook(db, { chain, wallet }, id)))) throw webhookNotFound(id);
    const found = await fromDatabase(() =>
      listDeliveries(db, id, { state, cursor, limit: limit + 1, offset }),
    );
    const { rows, next } = cutPage(found, limit, ({ seq }) => String(seq));
    const deliveries = rows.map(deliveryBody);
    return c.json({ count: deliveries.length, limit, offset, nextCursor: next, deliveries }, 200);
  });

  app.openapi({ ...replayDeliveryRoute, middleware: [apiKey] as const }, async (c) => {
    const { id, deliveryId } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const delivery = await calls.replayOne({ chain, wallet }, id, deliveryId);
    return c.json({ ok: true, id, delivery: deliveryBody(delivery) }, 202);
  });

  app.openapi({ ...replayEventsRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const { since } = c.req.valid("query");
    return c.json({ ok: true, id, scheduled: await calls.replaySince({ chain, wallet }, id, since) }, 202);
  });
}
