import { DEV_SECRETS_KEY } from "../../lib/config.ts";
import { ApiError } from "../../lib/errors.ts";
import { createSealer, newSecret } from "../../lib/webhooks/secrets.ts";
import { createLocality } from "../chain/is-local.ts";
import type { Dependencies } from "../dependencies.ts";
import { requireApiKey } from "../http/credentials.ts";
import { fromDatabase } from "../http/dependency-timeout.ts";
import type { Api } from "../http/env.ts";
import type { Readers } from "../readers.ts";
import { type WebhookCalls, webhookNotFound } from "./calls.ts";
import {
  createWebhookRoute,
  deleteWebhookRoute,
  listWebhooksRoute,
  readWebhookRoute,
  rotateSecretRoute,
} from "./routes.ts";
import { webhookBody, withSecret } from "./schemas.ts";
import { deleteWebhook, listWebhooks, MAX_WEBHOOKS, readWebhook, rotateSecret } from "./store.ts";

/** Subscriptions of a wallet to its events. */
export function addWebhookRoutes(
  app: Api,
  deps: Dependencies,
  { readers, calls }: { readers: Readers; calls: WebhookCalls },
): void {
  const { connection, deployment, webhooks } = deps;
  const { db } = connection;
  const { chainId: chain } = deployment;
  const sealer = createSealer(webhooks.secretsKey);
  const isLocal = createLocality(deps);
  const apiKey = requireApiKey(deps);

  /** A secret for its owner, and what is stored of it. Nothing is sealed with a key that everybody knows. */
  async function makeSecret(wallet: string): Promise<{ secret: string; sealed: string }> {
    if (webhooks.secretsKey === DEV_SECRETS_KEY && !(await isLocal())) {
      throw new ApiError("forbidden", "The default SECRETS_KEY is for local chains only: set another one.");
    }
    const secret = newSecret();
    return { secret, sealed: sealer.seal(secret, wallet) };
  }

  app.openapi({ ...createWebhookRoute, middleware: [apiKey] as const }, async (c) => {
    const { wallet } = c.get("agent");
    const { events, ...wanted } = c.req.valid("json");
    const url = await webhooks.targets.check(wanted.url);
    const { secret, sealed } = await makeSecret(wallet);
    const { number: head } = await readers.chain.head();
    const owner = { chain, wallet };
    const webhook = await calls.create(owner, { url, events, secret: sealed, head });
    if (!webhook) {
      throw new ApiError("cap_reached", `The wallet has ${MAX_WEBHOOKS} webhooks already: delete one first.`);
    }
    return c.json(withSecret(webhookBody(webhook), secret), 201);
  });

  app.openapi({ ...listWebhooksRoute, middleware: [apiKey] as const }, async (c) => {
    const { wallet } = c.get("agent");
    const page = c.req.valid("query");
    const found = await fromDatabase(() => listWebhooks(db, { chain, wallet }, page));
    const shown = found.webhooks.map(webhookBody);
    return c.json({ wallet, count: shown.length, total: found.total, ...page, webhooks: shown }, 200);
  });

  app.openapi({ ...readWebhookRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const webhook = await fromDatabase(() => readWebhook(db, { chain, wallet }, id));
    if (!webhook) throw webhookNotFound(id);
    return c.json(webhookBody(webhook), 200);
  });

  app.openapi({ ...deleteWebhookRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    if (!(await fromDatabase(() => deleteWebhook(db, { chain, wallet }, id)))) throw webhookNotFound(id);
    return c.json({ ok: true, id }, 200);
  });

  app.openapi({ ...rotateSecretRoute, middleware: [apiKey] as const }, async (c) => {
    const { id } = c.req.valid("param");
    const { wallet } = c.get("agent");
    const { secret, sealed } = await makeSecret(wallet);
    const until = await fromDatabase(() =>
      rotateSecret(db, { chain, wallet }, { webhookId: id, secret: sealed }),
    );
    if (!until) throw webhookNotFound(id);
    return c.json(withSecret({ id, previousSecretValidUntil: until.toISOString() }, secret), 200);
  });
}
