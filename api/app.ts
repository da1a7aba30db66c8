import { OpenAPIHono } from "@hono/zod-openapi";
import { cors } from "hono/cors";
import { methodNotAllowed } from "hono/method-not-allowed";
import { requestId } from "hono/request-id";
import { secureHeaders } from "hono/secure-headers";
import type { Dependencies } from "./dependencies.ts";
import type { Api, ApiEnv } from "./env.ts";
import { onError, onInvalid, onMethodNotAllowed, onNotFound } from "./middleware/errors.ts";
import { readLimits } from "./middleware/rate-limit.ts";
import { bodyLimit, decodablePath, requestLog } from "./middleware/request.ts";
import { registerSharedTypes } from "./openapi.ts";
import { createReaders } from "./readers.ts";
import { addBondRoutes } from "./routes/bonds.ts";
import { addDocumentRoutes } from "./routes/documents.ts";
import { addFeedRoutes } from "./routes/feeds.ts";
import { addHealthRoutes } from "./routes/health.ts";
import { addIndexerRoutes } from "./routes/indexer.ts";
import { addKeyRoutes } from "./routes/keys.ts";
import { addMarketplaceRoutes } from "./routes/marketplace.ts";
import { addPolicyRoutes } from "./routes/policies.ts";
import { addProductRoutes } from "./routes/products.ts";
import { addPurchaseRoutes } from "./routes/purchases.ts";
import { addStatsRoutes } from "./routes/stats.ts";
import { RATE_LIMIT_HEADERS } from "./schemas/rate-limit.ts";

/** Response headers that a page of another origin may read. */
const EXPOSED = [
  "Retry-After",
  "Location",
  "x-indexed-block",
  "x-chain-block",
  "x-request-id",
  ...RATE_LIMIT_HEADERS,
];

/** Puts the API together. It opens nothing by itself: clients and pools come with `dependencies`. */
export function createApp(dependencies: Dependencies): Api {
  const { log } = dependencies;
  const app: Api = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid });
  app.onError(onError(log));
  app.notFound(onNotFound);

  app.use(requestId({ limitLength: 64 }));
  app.use(requestLog(log));
  // No cookie ever counts here, so pages of any origin may call; the admin token is not a header they may send.
  app.use(
    cors({
      origin: "*",
      allowMethods: ["GET", "HEAD", "POST", "DELETE"],
      allowHeaders: ["Content-Type", "x-api-key", "Idempotency-Key"],
      exposeHeaders: EXPOSED,
      maxAge: 600,
    }),
  );
  app.use(secureHeaders({ crossOriginResourcePolicy: "cross-origin", xFrameOptions: "DENY" }));
  app.use(decodablePath);
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  app.use(bodyLimit);
  for (const [path, limit] of readLimits(dependencies.limits, dependencies.clientOf)) app.use(path, limit);

  registerSharedTypes(app);
  const readers = createReaders(dependencies);
  addHealthRoutes(app, dependencies, readers);
  addProductRoutes(app, readers);
  addPolicyRoutes(app, readers);
  addPurchaseRoutes(app, dependencies, readers);
  addKeyRoutes(app, dependencies);
  addStatsRoutes(app, readers);
  addBondRoutes(app, readers);
  addFeedRoutes(app, readers);
  addMarketplaceRoutes(app, readers);
  addIndexerRoutes(app, dependencies, readers);
  addDocumentRoutes(app);
  return app;
}
