import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { DEV_SECRETS_KEY } from "../../lib/off-local.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import type { ChainReads } from "../chain/chain-reads.ts";
import type { RequireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import { cutPage } from "../http/paging.ts";
import {
  addWebhook,
  reenable,
  replayOne,
  replaySince,
  sendTest,
  type WebhookActions,
  webhookNotFound,
} from "./actions.ts";
import {
  listDeliveriesRoute,
  replayDeliveryRoute,
  replayEventsRoute,
  retryWebhookRoute,
  testWebhookRoute,
} from "./delivery-routes.ts";
import { deliveryBody, flatDeliveryBody } from "./delivery-schemas.ts";
import {
  createWebhookRoute,
  deleteWebhookRoute,
  listWebhooksRoute,
  readWebhookRoute,
  rotateSecretRoute,
} from "./routes.ts";
import { webhookBody, withSecret } from "./schemas.ts";
import { deleteWebhook, listWebhooks, MAX_WEBHOOKS, readWebhook, rotateSecret } from "./store.ts";
import { listDeliveries } from "./store-deliveries.ts";
import type { Targets } from "./url-check.ts";

export type WebhookParts = {
  readonly connection: Connection;
  readonly deployment: { readonly chainId: number };
  readonly chain: Pick<ChainReads, "head">;
  readonly apiKey: RequireApiKey;
  readonly webhookActions: WebhookActions;
  /** Checks the URLs of webhooks. */
  readonly webhookTargets: Targets;
  /** Encrypts the webhooks' secrets: 64 hex digits. */
  readonly secretsKey: string;
  readonly isLocalChain: () => Promise<boolean>;
};

/** A wallet manages its webhooks and secrets, tests them, lists their deliveries, and replays events. */
export function addWebhookRoutes(app: Api, parts: WebhookParts): void {
  const { connection, deployment, apiKey, webhookActions: actions, secretsKey } = parts;
  const { sql } = connection;
  const { chainId: chain } = deployment;
  const sealer = createSealer(secretsKey);

  /** A new secret, in plain for its owner and sealed for the database; never sealed with the public default key. */
  async function makeSecret(wallet: string): Promise<{ secret: string; sealed: string }> {
    if (secretsKey === DEV_SECRETS_KEY && !(await parts.isLocalChain())) {
      throw new ApiError("forbidden", "The default SECRETS_KEY is for local chains only: set another one.");
    }
    const secret = newSecret();
    return { secret, sealed: sealer.seal(secret, wallet) };
  }

  app.openapi({ ...createWebhookRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { wallet } = c.get("holder");
    const { events, ...wanted } = c.req.valid("json");
    const url = await parts.webhookTargets.check(wanted.url);
    const { secret, sealed } = await makeSecret(wallet);
    const { number: head } = await parts.chain.head();
    const owner = { chain, wallet };
    const webhook = await addWebhook(actions, owner, { url, events, secret: sealed, head });
    if (!webhook) {
      throw new ApiError("cap_reached", `The wallet has ${MAX_WEBHOOKS} webhooks already: delete one first.`);
    }
    return c.json(withSecret(webhookBody(webhook), secret), 201);
  });

  app.openapi({ ...listWebhooksRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { wallet } = c.get("holder");
    const page = c.req.valid("query");
    const found = await fromDatabase(() => listWebhooks(sql, { chain, wallet }, page));
    const shown = found.webhooks.map(webhookBody);
    return c.json({ wallet, count: shown.length, total: found.total, ...page, webhooks: shown }, 200);
  });

  app.openapi({ ...readWebhookRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const webhook = await fromDatabase(() => readWebhook(sql, { chain, wallet }, id));
    if (!webhook) throw webhookNotFound(id);
    return c.json(webhookBody(webhook), 200);
  });

  app.openapi({ ...deleteWebhookRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    if (!(await fromDatabase(() => deleteWebhook(sql, { chain, wallet }, id)))) throw webhookNotFound(id);
    return c.json({ ok: true, id }, 200);
  });

  app.openapi({ ...rotateSecretRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const { secret, sealed } = await makeSecret(wallet);
    const until = await fromDatabase(() =>
      rotateSecret(sql, { chain, wallet }, { webhookId: id, secret: sealed }),
    );
    if (!until) throw webhookNotFound(id);
    return c.json(withSecret({ id, previousSecretValidUntil: until.toISOString() }, secret), 200);
  });

  app.openapi({ ...retryWebhookRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    return c.json({ ok: true, id, scheduled: await reenable(actions, { chain, wallet }, id) }, 200);
  });

  app.openapi({ ...testWebhookRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const delivery = deliveryBody(await sendTest(actions, { chain, wallet }, id, c.req.raw.signal));
    return c.json({ ok: true, id, delivered: delivery.state === "delivered", delivery }, 200);
  });

  app.openapi({ ...listDeliveriesRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const { limit, offset, cursor, state, view } = c.req.valid("query");
    if (!(await fromDatabase(() => readWebhook(sql, { chain, wallet }, id)))) throw webhookNotFound(id);
    const found = await fromDatabase(() =>
      listDeliveries(sql, id, { state, cursor, limit: limit + 1, offset }),
    );
    const { rows, next } = cutPage(found, limit, ({ seq }) => String(seq));
    const deliveries = rows.map((row) => (view === "flat" ? flatDeliveryBody(row) : deliveryBody(row)));
    return c.json({ count: deliveries.length, limit, offset, nextCursor: next, deliveries }, 200);
  });

  app.openapi({ ...replayDeliveryRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id, deliveryId } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const delivery = await replayOne(actions, { chain, wallet }, id, deliveryId);
    return c.json({ ok: true, id, delivery: deliveryBody(delivery) }, 202);
  });

  app.openapi({ ...replayEventsRoute, middleware: [apiKey("webhooks")] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("holder");
    const { since } = c.req.valid("query");
    return c.json({ ok: true, id, scheduled: await replaySince(actions, { chain, wallet }, id, since) }, 202);
  });
}
