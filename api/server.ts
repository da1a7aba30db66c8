/** The API's process: it starts, and stays up, while database, chain or indexer are away. */
import { setMaxListeners } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { setDatabaseSchema } from "@ponder/client";
import { createReadClient } from "../lib/chain/client.ts";
import { type ApiConfig, apiConfig, ConfigError, DEV_ADMIN_TOKEN, DEV_SECRETS_KEY } from "../lib/config.ts";
import { connect, type Database } from "../lib/db/connect.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { readDeployment, requireTestnetDeployment } from "../lib/deployments.ts";
import { createPurchaseWaiter } from "../lib/ledger/wait.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import { openPurchaseQueue, openTestnetQueue, openWebhookQueue, type QueueOptions } from "../lib/queues.ts";
import * as indexed from "../ponder.schema.ts";
import { createApp } from "./app.ts";
import { createLocality } from "./chain/is-local.ts";
import { createScanClients } from "./chain/scan-clients.ts";
import { createSignatures } from "./chain/signatures.ts";
import type { Testnet } from "./dependencies.ts";
import { createClaimWaiter } from "./faucet/waiter.ts";
import { clientOf } from "./http/client-address.ts";
import { standingHeaders } from "./http/common-headers.ts";
import { openLimits } from "./http/limits/limits.ts";
import { serve } from "./http/listen.ts";
import { createKeyFinder } from "./keys/store.ts";
import { createTargets } from "./webhooks/targets.ts";

/** One try of the chain's node, in ms; with its one repetition an answer stays within five seconds. */
const CHAIN_TIMEOUT_MS = 2000;
/** A statement that runs longer is ended by the server, in ms. */
const STATEMENT_TIMEOUT_MS = 4000;
const MIGRATE_RETRY_MS = 1000;
/**
 * So long a start waits for the migration, in ms: with a database at hand no client sees the moment in which the tables
 * are not there yet, and without one the API is up all the same.
 */
const FIRST_MIGRATION_MS = 3000;
/** Answers that wait for a purchase are given when the process is told to stop; all others are quick. */
const STOP_GRACE_MS = 8000;

/** Migrates the service's schema as soon as the database lets it. */
async function migrateWhenPossible(databaseUrl: string, stopping: AbortSignal, log: Logger): Promise<void> {
  while (!stopping.aborted) {
    try {
      await migrateService(databaseUrl);
      return;
    } catch (error) {
      log.warn({ err: errorText(error) }, "the database cannot be migrated yet");
      await sleep(MIGRATE_RETRY_MS, undefined, { signal: stopping }).catch(() => {});
    }
  }
}

/** What everybody knows is for local chains only. @throws ConfigError that names all of it */
function refuseDefaults({ ADMIN_TOKEN, SECRETS_KEY }: ApiConfig): void {
  const faults = [
    ...(ADMIN_TOKEN === DEV_ADMIN_TOKEN ? ["ADMIN_TOKEN"] : []),
    ...(SECRETS_KEY === DEV_SECRETS_KEY ? ["SECRETS_KEY"] : []),
  ];
  if (faults.length === 0) return;
  throw new ConfigError(faults.map((name) => `${name} must be set: its default is for local chains only`));
}

/** The testnet, where there is one. @throws ConfigError when its deployment file is not that of a testnet */
function openTestnet(
  config: ApiConfig,
  { queueOptions, db, mainChainId }: { queueOptions: QueueOptions; db: Database; mainChainId: number },
): Testnet | undefined {
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = config;
  if (rpcUrl === undefined || file === undefined) return undefined;
  const deployment = requireTestnetDeployment(file, mainChainId);
  const chain = createReadClient(deployment, rpcUrl, { timeout: CHAIN_TIMEOUT_MS });
  const claims = createClaimWaiter(config.DATABASE_URL, db);
  return { deployment, chain, queue: openTestnetQueue(queueOptions), claims };
}

async function main(): Promise<void> {
  const config = apiConfig(process.env);
  const deployment = readDeployment(config.DEPLOYMENT_FILE);
  if (!deployment.local) refuseDefaults(config);
  const log = createLogger("api", config.LOG_LEVEL);
  setDatabaseSchema(indexed, config.VIEWS_SCHEMA);

  const stop = new AbortController();
  setMaxListeners(0, stop.signal); // each purchase that waits listens
  const statementTimeout = STATEMENT_TIMEOUT_MS;
  const connection = connect(config.DATABASE_URL, { name: "api", statementTimeout });
  const indexConnection = connect(config.DATABASE_URL, {
    name: "api-index",
    statementTimeout,
    snapshots: true,
  });
  const onQueueError = (error: Error) => log.warn({ err: errorText(error) }, "the queue has trouble");
  const queueOptions = {
    databaseUrl: config.DATABASE_URL,
    redisUrl: config.REDIS_URL,
    onError: onQueueError,
  };
  const queue = openPurchaseQueue(queueOptions);
  const webhookQueue = openWebhookQueue(queueOptions);
  const testnet = openTestnet(config, { queueOptions, db: connection.db, mainChainId: deployment.chainId });
  const counts = connect(config.DATABASE_URL, {
    name: "api-counts",
    max: 4,
    statementTimeout,
    durable: false,
  });
  const limits = openLimits(config, counts.sql, log);
  const waiter = createPurchaseWaiter(config.DATABASE_URL, connection.db);
  const standing = await standingHeaders();
  const readClient = (options: { retryCount: number; batch?: boolean }) =>
    createReadClient(deployment, config.RPC_URL, { timeout: CHAIN_TIMEOUT_MS, ...options });
  const chain = readClient({ retryCount: 1 });
  const { app, front } = createApp({
    log,
    deployment,
    chain,
    // What a stranger chose is run once, and holds up no other check.
    signatures: createSignatures(readClient({ retryCount: 0, batch: false })),
    live: createScanClients(deployment, config.RPC_URL),
    connection,
    findHolder: createKeyFinder(connection.sql),
    indexConnection,
    viewsSchema: config.VIEWS_SCHEMA,
    adminToken: config.ADMIN_TOKEN,
    limits,
    clientOf: (remoteAddress, forwardedFor) => clientOf(remoteAddress, forwardedFor, config.TRUST_PROXY),
    standing,
    purchaseWaitMs: config.PURCHASE_WAIT_MS,
    queue,
    waiter,
    webhooks: {
      queue: webhookQueue,
      targets: createTargets({
        allow: config.WEBHOOK_ALLOW_HOSTS,
        isLocal: createLocality({ chain, deployment }),
      }),
      secretsKey: config.SECRETS_KEY,
    },
    testnet,
    publicUrl: config.PUBLIC_URL?.replace(/\/+$/, ""),
    stopping: stop.signal,
  });
  const migrated = migrateWhenPossible(config.DATABASE_URL, stop.signal, log);
  await Promise.race([migrated, sleep(FIRST_MIGRATION_MS)]);
  const server = await serve(app, { port: config.PORT, host: config.HOST, log, front, standing });
  log.info({ host: config.HOST, port: server.port, chainId: deployment.chainId }, "listening");

  async function shutDown(signal: string): Promise<void> {
    if (stop.signal.aborted) return;
    log.info({ signal }, "stopping");
    stop.abort();
    await server.close(STOP_GRACE_MS);
    limits.close();
    // What is left can hang on a dependency that is away; nothing in it needs an orderly end.
    await Promise.race([
      Promise.allSettled([
        migrated,
        queue.close(),
        webhookQueue.close(),
        testnet?.queue.close(),
        testnet?.claims.close(),
        waiter.close(),
        connection.close(),
        counts.close(),
        indexConnection.close(),
      ]),
      sleep(1000),
    ]);
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
