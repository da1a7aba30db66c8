import { OpenAPIHono } from "@hono/zod-openapi";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { addBondRoutes } from "./bonds/handlers.ts";
import { addFeedRoutes } from "./burns/handlers.ts";
import { addDelegationRoutes } from "./delegations/handlers.ts";
import type { Dependencies } from "./dependencies.ts";
import { registerSharedTypes } from "./explorer/document.ts";
import { addDocumentRoutes } from "./explorer/handlers.ts";
import { addFaucetRoutes } from "./faucet/handlers.ts";
import { addHealthRoutes } from "./health/handlers.ts";
import { addIndexerRoutes } from "./health/indexer.handlers.ts";
import type { Api, ApiEnv } from "./http/env.ts";
import { onError, onInvalid, onMethodNotAllowed, onNotFound } from "./http/errors.ts";
import { readLimits } from "./http/limits/middleware.ts";
import { bodyLimit, decodablePath, preflight, requestLog } from "./http/request.ts";
import { createFront, type Front } from "./index/early-response.ts";
import { addKeyRoutes } from "./keys/handlers.ts";
import { addOnboardingRoute } from "./keys/onboarding.handlers.ts";
import { addAgentKeyRoutes } from "./keys/own-keys.handlers.ts";
import { addMarketplaceRoutes } from "./marketplace/handlers.ts";
import { addPolicyRoutes } from "./policies/handlers.ts";
import { addProductRoutes } from "./products/handlers.ts";
import { addPublicRoutes } from "./public/handlers.ts";
import { addPurchaseRoutes } from "./purchases/handlers.ts";
import { createReaders } from "./readers.ts";
import { addSandboxRoutes } from "./sandbox/handlers.ts";
import { addStatsRoutes } from "./stats/handlers.ts";
import { createWebhookCalls } from "./webhooks/calls.ts";
import { addWebhookDeliveryRoutes } from "./webhooks/deliveries.handlers.ts";
import { addWebhookRoutes } from "./webhooks/handlers.ts";

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
