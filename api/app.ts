import { OpenAPIHono } from "@hono/zod-openapi";
import type { Context } from "hono";
import { methodNotAllowed } from "hono/method-not-allowed";
import type { ReadClient } from "../lib/chain/client.ts";
import type { ScanClients } from "../lib/chain/scan-clients.ts";
import type { Connection } from "../lib/db/connect.ts";
import type { Deployment, IncompleteDeployment } from "../lib/deployments.ts";
import type { PurchaseWaiter } from "../lib/ledger/waiter.ts";
import type { Logger } from "../lib/log.ts";
import { addAdminRoutes } from "./admin/handlers.ts";
import { addBondRoutes } from "./bonds/handlers.ts";
import { addBurnRoutes } from "./burns/handlers.ts";
import { createBuy } from "./buying/buy.ts";
import type { PurchaseMode } from "./buying/purchase-mode.ts";
import { createChainReads } from "./chain/chain-reads.ts";
import { createLiveScans } from "./chain/live-scans.ts";
import type { Signatures } from "./chain/signatures.ts";
import { addDocumentRoutes } from "./dashboard/documents.ts";
import { addDashboardRoutes } from "./dashboard/handlers.ts";
import { serviceLinks } from "./dashboard/service-links.ts";
import { addDelegationRoutes } from "./delegations/handlers.ts";
import { registerSharedTypes } from "./explorer/document.ts";
import { addExplorerRoutes } from "./explorer/handlers.ts";
import { createClaimGrant, disabledClaimGrant } from "./faucet/claim.ts";
import type { ClaimWaiter } from "./faucet/claim-waiter.ts";
import { addFaucetRoutes } from "./faucet/handlers.ts";
import { addHealthRoutes } from "./health/handlers.ts";
import type { FindHolder } from "./http/api-keys.ts";
import { countOptionalKey, requireApiKey } from "./http/credentials.ts";
import type { Api, ApiEnv } from "./http/env.ts";
import { onError, onInvalid, onMethodNotAllowed, onNotFound } from "./http/errors.ts";
import type { Limits } from "./http/limits/limits.ts";
import { type ClientOf, clientName, countUnrouted, publicLimits } from "./http/limits/middleware.ts";
import { preflight, refuseUnroutable, requestBody, requestId, requestLog } from "./http/request.ts";
import { type ApiMeter, measureRequests } from "./http/request-metrics.ts";
import { readIndexLag } from "./indexed/lag.ts";
import { createNewestHead, type NewestHead } from "./indexed/newest-head.ts";
import { createIndexReader } from "./indexed/reader.ts";
import { cacheResponses } from "./indexed/response-cache.ts";
import { createIndexedResponses } from "./indexed/responses.ts";
import type { Standby } from "./indexed/standby.ts";
import { addKeyRoutes } from "./keys/handlers.ts";
import { addOnboardingRoute } from "./keys/onboarding-handlers.ts";
import { addLiveStatsRoute } from "./live-stats/handlers.ts";
import { addMarketplaceRoutes } from "./marketplace/handlers.ts";
import { addMcpRoute } from "./mcp/handlers.ts";
import { addOracleRoutes } from "./oracle/handlers.ts";
import type { ProofWaiter } from "./oracle/sign-proof.ts";
import { addPolicyRoutes } from "./policies/handlers.ts";
import { addPrepareRoutes } from "./prepare/handlers.ts";
import { addProductRoutes } from "./products/handlers.ts";
import { addPurchaseRoutes } from "./purchases/handlers.ts";
import { addReportRoutes } from "./reports/handlers.ts";
import { addSandboxRoutes } from "./sandbox/handlers.ts";
import { createSandbox, disabledSandbox, sandboxRefusalError } from "./sandbox/sandbox.ts";
import { addStatsRoutes } from "./stats/handlers.ts";
import { addTriggerRoutes } from "./triggers/handlers.ts";
import { createWebhookActions } from "./webhooks/actions.ts";
import { eventSchemas } from "./webhooks/event-schemas.ts";
import { addWebhookRoutes } from "./webhooks/handlers.ts";
import type { Targets } from "./webhooks/url-check.ts";

/** Wakes the writer for this id, and tells it the trace that it belongs to. */
type Wake = (id: string, traceparent?: string) => Promise<void>;

/** The testnet of sandbox and faucet. */
export type Testnet = {
  readonly deployment: Deployment;
  readonly client: ReadClient;
  readonly claims: ClaimWaiter;
  /** Wake the writer for a purchase or a claim on the testnet. */
  readonly wakePurchase: Wake;
  readonly wakeClaim: Wake;
  /** Grants of the faucet per client address in 24 hours. */
  readonly faucetClientLimit: number;
};

/** The settings, clients and connections of the process. The app opens none by itself. */
export type AppParts = {
  readonly log: Logger;
  readonly deployment: Deployment | IncompleteDeployment;
  /** Reads the main chain. */
  readonly client: ReadClient;
  /** Reads the main chain for the checks of purchases: reads of one block together. */
  readonly purchaseClient: ReadClient;
  readonly scanClients: ScanClients;
  readonly signatures: Signatures;
  /** For simulations of prepared transactions only. */
  readonly simulationClient: ReadClient;
  readonly isLocalChain: () => Promise<boolean>;
  readonly connection: Connection;
  /** For reads of the index; those of one moment use `inSnapshot`. */
  readonly indexConnection: Connection;
  /** Is asked for reads of the index first; undefined without one. */
  readonly standby: Standby | undefined;
  /** Postgres schema of the indexer's views. */
  readonly viewsSchema: string;
  readonly findHolder: FindHolder;
  readonly adminToken: string;
  readonly limits: Limits;
  readonly clientOf: ClientOf;
  readonly meter: ApiMeter;
  /** How long a call waits for its transaction, in ms. */
  readonly purchaseWaitMs: number;
  readonly purchaseMode: PurchaseMode;
  readonly waiter: PurchaseWaiter;
  readonly proofs: ProofWaiter;
  /** Wake the writer for a purchase, or for a webhook. */
  readonly wakePurchase: Wake;
  readonly wakeWebhook: (id: string) => Promise<void>;
  readonly webhookTargets: Targets;
  /** Encrypts the webhooks' secrets: 64 hex digits. */
  readonly secretsKey: string;
  /** Undefined without sandbox and faucet. */
  readonly testnet: Testnet | undefined;
  /** Public URL of the API without a trailing slash; undefined takes the request's origin. */
  readonly publicUrl: string | undefined;
  /** Aborted when the process stops: then waiting calls are answered early. */
  readonly stopping: AbortSignal;
};

/** The sandbox and the faucet, or their refusals without a testnet. */
function createTestnetServices(parts: AppParts) {
  const { testnet, connection, secretsKey, purchaseWaitMs } = parts;
  if (!testnet) return { sandbox: disabledSandbox, claimGrant: disabledClaimGrant };
  const { deployment, claims, wakeClaim, wakePurchase } = testnet;
  const chain = createChainReads({ client: testnet.client, deployment });
  const buy = createBuy({ ...parts, deployment, chain, wake: wakePurchase }, sandboxRefusalError);
  return {
    sandbox: createSandbox({ connection, chainId: deployment.chainId, buy, chain, secretsKey }),
    claimGrant: createClaimGrant({ ...parts, testnet, claims, wake: wakeClaim, waitMs: purchaseWaitMs }),
  };
}

/** Adds the middleware in front of all routes. */
function addMiddleware(app: Api, parts: AppParts, newest: NewestHead): void {
  const { log, limits, clientOf, connection, meter } = parts;
  const countRequest = countUnrouted(limits, clientOf);
  app.onError(onError(log, parts.deployment.contracts));
  app.notFound(onNotFound(countRequest));
  app.use(requestLog(log));
  app.use(measureRequests(meter));
  const count = (c: Context) => limits.publicReads.consume(clientName(c, clientOf));
  app.use(cacheResponses({ newest, count, onAnswer: meter.indexAnswer }));
  app.use(requestId);
  app.use(refuseUnroutable(countRequest));
  app.use(preflight(countRequest));
  app.use(methodNotAllowed({ app, onMethodNotAllowed }));
  app.use(requestBody);
  const countByKey = countOptionalKey({ ...parts, sql: connection.sql });
  for (const [path, limit] of publicLimits(limits, clientOf, countByKey)) app.use(path, limit);
}

export function createApp(parts: AppParts): {
  app: Api;
  /** Blocks between the chain's head and what reads of the index see. @throws while one of both is away */
  readIndexLag: () => Promise<bigint>;
} {
  const { connection, deployment, meter, limits } = parts;
  // Not strict: an address with a slash at its end is the same address.
  const app: Api = new OpenAPIHono<ApiEnv>({ defaultHook: onInvalid, strict: false });
  const index = createIndexReader(parts);
  const newest = createNewestHead(index);
  addMiddleware(app, parts, newest);

  const keyParts = { ...parts, sql: connection.sql };
  const shared = {
    ...parts,
    index,
    responses: createIndexedResponses(newest, meter.indexAnswer),
    chain: createChainReads(parts),
    liveScans: createLiveScans(parts.scanClients, deployment),
    apiKey: requireApiKey(keyParts),
    purchaseReader: requireApiKey(keyParts, limits.purchaseReads),
  };
  const chain = createChainReads({ client: parts.purchaseClient, deployment });
  const buy = createBuy({ ...shared, chain, wake: parts.wakePurchase });
  const webhookActions = createWebhookActions({
    ...parts,
    wake: parts.wakeWebhook,
    replays: limits.unverifiedReplays,
  });

  registerSharedTypes(app, eventSchemas);
  addHealthRoutes(app, shared);
  addProductRoutes(app, shared);
  addPolicyRoutes(app, shared);
  addPurchaseRoutes(app, { ...shared, buy });
  addOnboardingRoute(app, shared);
  addDelegationRoutes(app, shared);
  addKeyRoutes(app, shared);
  addAdminRoutes(app, shared);
  addWebhookRoutes(app, { ...shared, webhookActions });
  addStatsRoutes(app, shared);
  addLiveStatsRoute(app, shared);
  addBondRoutes(app, shared);
  addTriggerRoutes(app, shared);
  addBurnRoutes(app, shared);
  addMarketplaceRoutes(app, shared);
  addOracleRoutes(app, shared);
  addReportRoutes(app, shared);
  addPrepareRoutes(app, shared);
  const testnetServices = createTestnetServices(parts);
  addSandboxRoutes(app, { ...shared, ...testnetServices });
  addFaucetRoutes(app, { ...shared, ...testnetServices });
  addMcpRoute(app, shared);
  addDashboardRoutes(app, serviceLinks(addDocumentRoutes(app)));
  addExplorerRoutes(app, parts);
  return { app, readIndexLag: () => readIndexLag(parts, shared.chain) };
}
