import { setTimeout as sleep } from "node:timers/promises";
import { type WriterConfig, writerConfig } from "../lib/config.ts";
import { ConfigError } from "../lib/config-error.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { reportSessions } from "../lib/db/report-sessions.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import { migrateQueue } from "../lib/queues/backend.ts";
import { retryUntilReady } from "../lib/retry.ts";
import { LOOPBACK_HOSTS } from "../lib/webhooks/allowed-hosts.ts";
import { type DeployedChain, openChains, verifyChain } from "./common/chains.ts";
import { mainKeys, oracleKeys, requireOwnSecretsKey, testnetKeys } from "./common/wallet-keys.ts";
import { startSending } from "./main-chain/start.ts";
import { type Metrics, startMetrics } from "./metrics/server.ts";
import { startOracle } from "./oracle/start.ts";
import { startOutbox } from "./outbox/start.ts";
import { startTestnet } from "./testnet/start.ts";
import { startDelivery } from "./webhooks/start.ts";
import { UNVERIFIED_LIMITS } from "./webhooks/unverified-limits.ts";

/**
 * The writer: the only process that holds keys. It waits, without a time limit, for the servers that it needs, relays
 * purchases and delivers events to subscribers. After SIGTERM or SIGINT it exits within 10 s; unfinished work is in the
 * tables.
 */

const STOP_MS = 9_000;
/** How long the start waits for the testnet's node, in ms, so that a wrong node is reported before any job starts. */
const TESTNET_CHECK_MS = 2000;
/** How long the writer waits for sandbox and faucet before it reports that it is ready, in ms. */
const TESTNET_READY_MS = 5000;

type Service = { stop(): Promise<void> };

/** What both chains' services need to start. */
type StartContext = {
  config: WriterConfig;
  metrics: Metrics;
  /** Resolves once the schemas of service and queue are up to date. */
  migrated: Promise<void>;
  /** Registers a running service, so that a stop, at any time, stops it. */
  onStarted: (service: Service) => void;
  log: Logger;
};

async function migrate({ DATABASE_URL, REDIS_URL }: WriterConfig): Promise<void> {
  await migrateService(DATABASE_URL);
  if (REDIS_URL === undefined) await migrateQueue(DATABASE_URL);
}

/** Starts purchases, the keeper, signed prices and webhooks of the main chain. */
async function startMainChain(
  { config, metrics, migrated, onStarted, log }: StartContext,
  main: DeployedChain,
): Promise<void> {
  const { deployment } = main;
  const local = await retryUntilReady("the chain", { log }, async () => {
    const isLocal = await verifyChain(main, [...mainKeys(config), ...oracleKeys(config)], "");
    requireOwnSecretsKey(config.SECRETS_KEY, isLocal);
    return isLocal;
  });
  await migrated;
  const { meter, keeperMeter, contractMeter, deliveryMeter } = metrics;
  const queueServer = config.REDIS_URL ? "Redis" : "the queue";
  // What sends starts first: purchases and triggers do not wait for webhooks.
  const sending = await retryUntilReady(queueServer, { log }, () =>
    startSending({ ...main, config, meter, keeperMeter, contractMeter, log }),
  );
  onStarted(sending);
  const [oracleKey] = oracleKeys(config).flatMap(({ keys }) => keys);
  if (oracleKey && deployment.oracle) {
    const { oracle } = deployment;
    onStarted(startOracle({ ...main, oracle, key: oracleKey, databaseUrl: config.DATABASE_URL, log }));
  } else if (oracleKey) {
    log.warn("the deployment file has no oracle: the oracle's key signs no prices");
  }
  const allow = config.WEBHOOK_ALLOW_HOSTS ?? (local ? LOOPBACK_HOSTS : []);
  // A local chain has no strangers.
  const unverifiedLimits = local ? undefined : UNVERIFIED_LIMITS;
  const delivery = await retryUntilReady(queueServer, { log }, () =>
    startDelivery({
      ...{ config, chainId: deployment.chainId, allow, unverifiedLimits },
      ...{ meter: deliveryMeter, log },
    }),
  );
  onStarted(delivery);
  onStarted(startOutbox({ config, deployment, onDeliveries: delivery.wake, log }));
}

/** Starts sandbox and faucet as soon as `verified` resolves: the node serves the testnet, and the keys fit. */
async function startTestnetChain(
  { config, metrics, migrated, onStarted, log }: StartContext,
  testnet: DeployedChain,
  verified: Promise<unknown>,
): Promise<void> {
  await verified;
  await migrated;
  const options = { ...testnet, config, meter: metrics.testnetMeter, log };
  onStarted(await retryUntilReady("the queue of the testnet", { log }, () => startTestnet(options)));
}

/** Starts each chain's services as soon as its own node answers, even while the other chain's node is down. */
async function start(log: Logger, config: WriterConfig, onStarted: StartContext["onStarted"]): Promise<void> {
  const { main, testnet } = openChains(config);
  const metrics = await startMetrics({ config, ...main, testnet, log });
  const verified =
    testnet &&
    retryUntilReady("the testnet", { log }, () => verifyChain(testnet, testnetKeys(config), "TESTNET_"));
  await Promise.race([verified, sleep(TESTNET_CHECK_MS, undefined, { ref: false })]);
  const migrated = retryUntilReady("Postgres", { log }, () => migrate(config));
  migrated.catch(() => {}); // its awaiters get the rejection
  const context = { config, metrics, migrated, onStarted, log };
  // A fault of the testnet that is found later does not end the main chain's services.
  const testnetStarted =
    testnet &&
    verified &&
    startTestnetChain(context, testnet, verified).catch((error: unknown) =>
      log.error({ err: errorText(error) }, "sandbox and faucet could not be started"),
    );
  await startMainChain(context, main);
  if (testnetStarted) {
    await Promise.race([testnetStarted, sleep(TESTNET_READY_MS, undefined, { ref: false })]);
  }
}

async function main(): Promise<void> {
  const config = writerConfig(process.env);
  const log = createLogger("writer", config.LOG_LEVEL);
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: errorText(error), stack: error instanceof Error ? error.stack : undefined }, event);
      process.exit(1);
    });
  }

  const services: Service[] = [];
  let stopping = false;
  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.warn("stopped with work unfinished; the next writer finds it in the tables");
      process.exit(0);
    }, STOP_MS).unref();
    await Promise.all(services.map((service) => service.stop()));
    log.info("stopped");
    process.exit(0);
  }
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  try {
    await start(log, config, (service) => services.push(service));
  } catch (error) {
    // The other chain's services may be running already: they give their wallets' leases back.
    await Promise.race([Promise.allSettled(services.map((service) => service.stop())), sleep(STOP_MS)]);
    throw error;
  }
  log.info("the writer is ready");
  await reportSessions(config.DATABASE_URL, log);
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(1);
});
