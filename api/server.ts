/** The API's process. It starts, and keeps running, while database, chain or indexer are down. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import type { Sql } from "postgres";
import { createReadClient } from "../lib/chain/client.ts";
import { createScanClients } from "../lib/chain/scan-clients.ts";
import { type ApiConfig, apiConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { asApi } from "../lib/db/api-role.ts";
import { connect } from "../lib/db/connect.ts";
import { apiDatabase, prepareApiLogin } from "../lib/db/login-settings.ts";
import { requireMigrated } from "../lib/db/migrate.ts";
import { reportSessions } from "../lib/db/report-sessions.ts";
import { readDeployment, requireTestnetDeployment } from "../lib/deployments.ts";
import { readFrom } from "../lib/indexed/views-schema.ts";
import { createPurchaseWaiter } from "../lib/ledger/waiter.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import type { QueueOptions } from "../lib/queues/backend.ts";
import { openPurchaseQueue, openTestnetQueue, openWebhookQueue } from "../lib/queues/queue.ts";
import { retryUntilReady } from "../lib/retry.ts";
import * as indexed from "../ponder.schema.ts";
import { createApp } from "./app.ts";
import { createLocalChainCheck } from "./chain/local-chain.ts";
import { createSignatures } from "./chain/signatures.ts";
import { createClaimWaiter } from "./faucet/claim-waiter.ts";
import { createKeyFinder } from "./http/api-keys.ts";
import { clientOf } from "./http/client-address.ts";
import { readCommonHeaders } from "./http/common-headers.ts";
import { openCounts } from "./http/limits/counters.ts";
import { openLimits } from "./http/limits/limits.ts";
import { serve } from "./http/listen.ts";
import { openStandby } from "./indexed/standby.ts";
import { createApiMetrics, startApiMetrics } from "./metrics.ts";
import { createProofWaiter } from "./oracle/sign-proof.ts";
import { createTargets } from "./webhooks/url-check.ts";

/** Timeout of one call to the chain's node, in ms; with one retry a response stays within five seconds. */
const CHAIN_TIMEOUT_MS = 2000;
/** As long as Postgres lets a statement of the api's own login run, in ms. */
const STATEMENT_TIMEOUT_MS = 4000;
/** Longest wait for the database's migrations before listening, in ms, so that clients do not see missing tables at a start. */
const MIGRATIONS_MS = 3000;
/** Longest time for running requests after a stop signal, in ms; calls that wait for a transaction are answered at once. */
const STOP_GRACE_MS = 8000;
/** A connection may be silent for so much longer than a call waits for its transaction, in ms. */
const SILENCE_MARGIN_MS = 30_000;
/** Longest time for closing connections, in ms: a dependency that is down may never answer. */
const CLOSE_MS = 1000;

/** The testnet; undefined without one. @throws ConfigError when the deployment file is not a testnet's */
function openTestnet(config: ApiConfig, mainChainId: number, sql: Sql, queueOptions: QueueOptions) {
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = config;
  if (rpcUrl === undefined || file === undefined) return undefined;
  const deployment = requireTestnetDeployment(file, mainChainId);
  if (config.FAUCET_CLIENT_LIMIT > 1 && !deployment.local) {
    throw new ConfigError(["FAUCET_CLIENT_LIMIT must be 1: higher limits are for local chains only"]);
  }
  return {
    deployment,
    client: createReadClient(deployment, rpcUrl, { timeout: CHAIN_TIMEOUT_MS }),
    claims: createClaimWaiter(queueOptions.databaseUrl, sql),
    queue: openTestnetQueue(queueOptions),
    faucetClientLimit: config.FAUCET_CLIENT_LIMIT,
  };
}

/** Opens connections, clients and queues, without waiting for their servers. */
async function open(config: ApiConfig, log: Logger) {
  const { DATABASE_READ_URL: standbyUrl, REDIS_URL: redisUrl, RPC_URL: rpcUrl } = config;
  const databaseUrl = await apiDatabase(config.DATABASE_URL);
  const readUrl = standbyUrl && (databaseUrl === config.DATABASE_URL ? standbyUrl : asApi(standbyUrl));
  const deployment = readDeployment(config.DEPLOYMENT_FILE);
  const pool = { statementTimeout: STATEMENT_TIMEOUT_MS, max: 5 };
  const connection = connect(databaseUrl, { name: "api", ...pool });
  const indexConnection = connect(databaseUrl, { name: "api-index", ...pool });
  const counts = openCounts(databaseUrl);
  const onError = (error: Error) => log.warn({ err: errorText(error) }, "the queue reports an error");
  const queueOptions = { databaseUrl, redisUrl, onError };
  const readClient = (options: { retryCount: number; batch?: boolean; together?: boolean }) =>
    createReadClient(deployment, rpcUrl, { timeout: CHAIN_TIMEOUT_MS, ...options });
  const client = readClient({ retryCount: 1 });
  return {
    databaseUrl,
    deployment,
    connection,
    indexConnection,
    standby:
      readUrl === undefined
        ? undefined
        : openStandby({ url: readUrl, primaryUrl: databaseUrl, pool, deployment, log }),
    counts,
    client,
    purchaseClient: readClient({ retryCount: 1, together: true }),
    // Not retried and not batched: it runs code that strangers chose, which must not delay other checks.
    signatures: createSignatures(readClient({ retryCount: 0, batch: false })),
    // As those: a simulation may run the code of a wallet's contract.
    simulationClient: readClient({ retryCount: 0, batch: false }),
    scanClients: createScanClients(deployment, rpcUrl),
    isLocalChain: createLocalChainCheck({ client, deployment }),
    limits: openLimits(config, counts.pool, log),
    waiter: createPurchaseWaiter(databaseUrl, connection.sql),
    proofs: createProofWaiter(databaseUrl, connection),
    purchases: openPurchaseQueue(queueOptions),
    webhooks: openWebhookQueue(queueOptions),
    testnet: openTestnet(config, deployment.chainId, connection.sql, queueOptions),
  };
}

type Opened = Awaited<ReturnType<typeof open>>;

/** Closes everything that was opened; what does not close in time is left to the end of the process. */
async function close(opened: Opened, migrated: Promise<unknown>): Promise<void> {
  const { limits, waiter, proofs, purchases, webhooks, testnet } = opened;
  const { connection, indexConnection, standby, counts } = opened;
  limits.close();
  const parts = [purchases, webhooks, testnet?.queue, testnet?.claims, waiter, proofs];
  const connections = [connection, counts, indexConnection, standby];
  await Promise.race([
    Promise.allSettled([migrated, ...[...parts, ...connections].map((part) => part?.close())]),
    sleep(CLOSE_MS),
  ]);
}

async function main(): Promise<void> {
  const config = apiConfig(process.env);
  const log = createLogger("api", config.LOG_LEVEL);
  readFrom(indexed, config.VIEWS_SCHEMA);
  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // each waiting purchase listens
  const opened = await open(config, log);
  const { deployment, testnet, purchases, webhooks, isLocalChain } = opened;
  const commonHeaders = await readCommonHeaders();
  const metrics = createApiMetrics();
  const { app, readIndexLag } = createApp({
    ...opened,
    log,
    meter: metrics.meter,
    testnet: testnet && { ...testnet, ...testnet.queue },
    viewsSchema: config.VIEWS_SCHEMA,
    findHolder: createKeyFinder(opened.connection.sql),
    adminToken: config.ADMIN_TOKEN,
    secretsKey: config.SECRETS_KEY,
    clientOf: (remoteAddress, forwardedFor) => clientOf(remoteAddress, forwardedFor, config.TRUST_PROXY),
    purchaseMode: config.PURCHASES,
    purchaseWaitMs: config.PURCHASE_WAIT_MS,
    wakePurchase: purchases.wake,
    wakeWebhook: webhooks.wake,
    webhookTargets: createTargets({ allow: config.WEBHOOK_ALLOW_HOSTS, isLocalChain }),
    publicUrl: config.PUBLIC_URL?.replace(/\/+$/, ""),
    stopping: stop.signal,
  });
  const { connection, indexConnection, standby, counts } = opened;
  const pools = {
    api: () => connection.sql`select`,
    "api-index": () => indexConnection.sql`select`,
    "api-counts": () => counts.pool.query("select"),
    ...(standby && { "api-standby": () => standby.sql`select` }),
  };
  const stopMetrics = await startApiMetrics(metrics, config, { pools, standby, readIndexLag, log });
  const migrated = retryUntilReady(
    "the migrations of writer or indexer",
    { log, signal: stop.signal },
    async () => {
      await prepareApiLogin(opened.databaseUrl);
      await requireMigrated(opened.connection.sql);
    },
  )
    .then(() => reportSessions(config.DATABASE_URL, log))
    .catch((error: unknown) => {
      if (stop.signal.aborted) return;
      log.fatal(errorText(error));
      process.exit(1);
    });
  await Promise.race([migrated, sleep(MIGRATIONS_MS)]);
  const silenceMs = config.PURCHASE_WAIT_MS + SILENCE_MARGIN_MS;
  const server = await serve(app, { port: config.PORT, host: config.HOST, log, commonHeaders, silenceMs });
  log.info({ host: config.HOST, port: server.port, chainId: deployment.chainId }, "listening");

  async function shutDown(signal: string): Promise<void> {
    if (stop.signal.aborted) return;
    log.info({ signal }, "stopping");
    stop.abort();
    await server.close(STOP_GRACE_MS);
    await stopMetrics();
    await close(opened, migrated);
    log.info("stopped");
    process.exit(0);
  }
  process.on("SIGTERM", () => void shutDown("SIGTERM"));
  process.on("SIGINT", () => void shutDown("SIGINT"));
}

main().catch((error: unknown) => {
  console.error(errorText(error));
  process.exit(1);
});
