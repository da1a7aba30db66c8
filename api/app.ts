import { OpenAPIHono } from "@hono/zod-openapi";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import type { Dependencies } from "./dependencies.ts";
import type { Api, ApiEnv } from "./env.ts";
import { createFront, type Front } from "./front.ts";
import { onError, onInvalid, onMethodNotAllowed, onNotFound } from "./middleware/errors.ts";
import { readLimits } from "./middleware/rate-limit.ts";
import { bodyLimit, decodablePath, preflight, requestLog } from "./middleware/request.ts";
import { registerSharedTypes } from "./openapi.ts";
import { createReaders } from "./readers.ts";
import { addAgentKeyRoutes } from "./routes/agent-keys.ts";
import { addBondRoutes } from "./routes/bonds.ts";
import { addDelegationRoutes } from "./routes/delegations.ts";
import { addDocumentRoutes } from "./routes/documents.ts";
import { addFaucetRoutes } from "./routes/faucet.ts";
import { addFeedRoutes } from "./routes/feeds.ts";
import { addHealthRoutes } from "./routes/health.ts";
import { addIndexerRoutes } from "./routes/indexer.ts";
import { addKeyRoutes } from "./routes/keys.ts";
import { addMarketplaceRoutes } from "./routes/marketplace.ts";
import { addOnboardingRoute } from "./routes/onboarding.ts";
import { addPolicyRoutes } from "./routes/policies.ts";
import { addProductRoutes } from "./routes/products.ts";
import { addPublicRoutes } from "./routes/public.ts";
import { addPurchaseRoutes } from "./routes/purchases.ts";
import { addSandboxRoutes } from "./routes/sandbox.ts";
import { addStatsRoutes } from "./routes/stats.ts";
import { addWebhookDeliveryRoutes } from "./routes/webhook-deliveries.ts";
import { addWebhookRoutes } from "./routes/webhooks.ts";
import { createWebhookCalls } from "./webhook-calls.ts";

/**
 * Puts the API together: the app, and what answers ahead of it. It opens nothing by itself: clients and pools come with
 * `dependencies`.
 */
export function createApp(dependencies: Dependencies): { app: Api; front: Front } {
  const { log, limits, clientOf } = dependencies;
  const app: Api = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid });
  app.onError(onError(log));
  app.notFound(onNotFound);

  app.use(requestId({ limitLength: 64 }));
  app.use(requestLog(log));
  app.use(preflight);
  app.use(decodablePath);
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  app.use(bodyLimit);
  for (const [path, limit] of readLimits(limits, clientOf)) app.use(path, limit);

  registerSharedTypes(app);
  const readers = createReaders(dependencies);
  addHealthRoutes(app, dependencies, readers);
  addProductRoutes(app, readers);
  addPolicyRoutes(app, dependencies, readers);
  addPurchaseRoutes(app, dependencies, readers);
  addOnboardingRoute(app, dependencies);
  addAgentKeyRoutes(app, dependencies);
  addDelegationRoutes(app, dependencies);
  addKeyRoutes(app, dependencies);
  const calls = createWebhookCalls(dependencies);
  addWebhookRoutes(app, dependencies, { readers, calls });
  addWebhookDeliveryRoutes(app, dependencies, calls);
  addStatsRoutes(app, readers);
  addBondRoutes(app, readers);
  addFeedRoutes(app, readers);
  addMarketplaceRoutes(app, readers);
  addIndexerRoutes(app, dependencies, readers);
  addPublicRoutes(app, dependencies);
  addSandboxRoutes(app, dependencies);
  addFaucetRoutes(app, dependencies);
  addDocumentRoutes(app);
  const { kept, newest } = readers;
  const front = createFront({ kept, newest, limiter: limits.publicReads, clientOf, log });
  return { app, front };
}
