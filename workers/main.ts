import { setTimeout as sleep } from "node:timers/promises";
import { isLocal } from "../lib/chain/client.ts";
import { ConfigError, writerConfig } from "../lib/config.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { type Deployment, requireDeployment, requireTestnetDeployment } from "../lib/deployments.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import { openPurchaseQueue, startPurchaseWorker } from "../lib/queues.ts";
import { LOOPBACK_HOSTS } from "../lib/webhooks/allowed-hosts.ts";
import { mainKeys, requireFittingKeys, requireOwnSecretsKey, testnetKeys, walletKeys } from "./keys.ts";
import type { Meter } from "./metrics/meter.ts";
import { startMetrics } from "./metrics/server.ts";
import { startOutbox } from "./outbox/start.ts";
import { type Chain, openChain } from "./relayer/chain.ts";
import { createEngine } from "./relayer/engine.ts";
import { type Relayer, startRelayer } from "./relayer/start.ts";
import { startTestnet } from "./testnet.ts";
import { startDelivery } from "./webhooks/start.ts";

/**
 * The writer: the only process that holds keys. It waits for the servers that it needs, however long they take, relays
 * purchases and tells subscribers of events until it is told to stop, and then leaves within ten seconds; what it could
 * not finish is in the tables.
 */

const STOP_MS = 9_000;
const RETRY_MS = 500;

/** Does `work` until it succeeds; a configuration fault is not a matter of waiting. */
async function untilItWorks<T>(what: string, log: Logger, work: () => Promise<T>): Promise<T> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      return await work();
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      if (attempt % 20 === 0) log.warn({ error: errorText(error) }, `waiting for ${what}`);
      await sleep(RETRY_MS);
    }
  }
}

async function requireChain(chain: Chain, expected: number, prefix = ""): Promise<void> {
  const actual = await chain.client.getChainId();
  if (actual !== expected) {
    throw new ConfigError([
      `${prefix}RPC_URL serves chain ${actual}, but ${prefix}DEPLOYMENT_FILE describes chain ${expected}`,
    ]);
  }
}

type Place = { deployment: Deployment; chain: Chain };

/** The testnet, where there is one. Throws {@link ConfigError} when its deployment file is not that of a testnet. */
function openTestnet(config: ReturnType<typeof writerConfig>, mainChainId: number): Place | undefined {
  const { TESTNET_RPC_URL: rpcUrl, TESTNET_DEPLOYMENT_FILE: file } = config;
  if (rpcUrl === undefined || file === undefined) return undefined;
  const deployment = requireTestnetDeployment(file, mainChainId);
  return { deployment, chain: openChain(deployment, rpcUrl) };
}

type Part = { stop(): Promise<void> };

/** Connections for purchases: signing rounds of several wallets, and what follows them. */
const CONNECTIONS = 10;

/** The relayer of the main chain's purchases. Rejects when the queue's server is away. */
async function startPurchases(
  config: ReturnType<typeof writerConfig>,
  { deployment, chain, meter, log }: { deployment: Deployment; chain: Chain; meter: Meter; log: Logger },
): Promise<Relayer> {
  const onQueueError = (error: Error) => log.warn({ error: errorText(error) }, "the queue reports an error");
  const queueOptions = {
    databaseUrl: config.DATABASE_URL,
    redisUrl: config.REDIS_URL,
    onError: onQueueError,
  };
  const queue = openPurchaseQueue(queueOptions);
  const keys = walletKeys(mainKeys(config));
  const engine = createEngine({ config, deployment, chain, keys, connections: CONNECTIONS, meter, log });
  const concurrency = config.PURCHASE_CONCURRENCY;
  const relayer = await startRelayer({
    engine,
    budgets: config,
    wake: queue.wake,
    startWorker: (handle) => startPurchaseWorker({ ...queueOptions, concurrency, handle }),
    onQueueError,
  });
  return {
    async stop() {
      await relayer.stop();
      await queue.close();
    },
  };
}

/** So long the start waits for the testnet, in ms: a faulty one is named at once, and one that is away holds nothing up. */
const TESTNET_FIRST_MS = 5000;

/** Starts sandbox and faucet as soon as the testnet answers. What is wrong with it later is no reason to end the others. */
async function startTestnetWhenPossible(
  testnet: Place,
  { config, meter, log }: { config: ReturnType<typeof writerConfig>; meter: Meter; log: Logger },
  started: (part: Part) => void,
): Promise<void> {
  const { deployment, chain } = testnet;
  const starting = (async () => {
    await untilItWorks("the testnet", log, async () => {
      await requireChain(chain, deployment.chainId, "TESTNET_");
      requireFittingKeys(testnetKeys(config), await isLocal(chain.client, deployment));
    });
    const start = () => startTestnet({ config, deployment, chain, meter, log });
    started(await untilItWorks("the queue of the testnet", log, start));
  })();
  const waited = sleep(TESTNET_FIRST_MS).then(() => {
    starting.catch((error: unknown) => log.error({ error: errorText(error) }, "no sandbox and no faucet"));
  });
  await Promise.race([starting, waited]);
}

/** Starts one part after the other; `started` hears of each, so that a stop finds those that there are. */
async function start(
  log: Logger,
  config: ReturnType<typeof writerConfig>,
  started: (part: Part) => void,
): Promise<void> {
  const deployment = requireDeployment(config.DEPLOYMENT_FILE);
  const chain = openChain(deployment, config.RPC_URL);
  const testnet = openTestnet(config, deployment.chainId);
  const metrics = await startMetrics({ config, deployment, chain, testnet, log });
  let local = false;
  await untilItWorks("the chain", log, async () => {
    await requireChain(chain, deployment.chainId);
    local = await isLocal(chain.client, deployment);
    requireFittingKeys(mainKeys(config), local);
    requireOwnSecretsKey(config.SECRETS_KEY, local);
  });
  await untilItWorks("Postgres", log, () => migrateService(config.DATABASE_URL));
  const { meter, deliveryMeter } = metrics;
  const queueServer = config.REDIS_URL ? "Redis" : "the queue";
  // The relayer first: nothing about webhooks keeps it waiting.
  started(
    await untilItWorks(queueServer, log, () => startPurchases(config, { deployment, chain, meter, log })),
  );
  const allow = config.WEBHOOK_ALLOW_HOSTS ?? (local ? LOOPBACK_HOSTS : []);
  const delivery = await untilItWorks(queueServer, log, () =>
    startDelivery({ config, chainId: deployment.chainId, allow, meter: deliveryMeter, log }),
  );
  started(delivery);
  started(startOutbox({ config, deployment, onDeliveries: delivery.wake, log }));
  if (testnet) await startTestnetWhenPossible(testnet, { config, meter: metrics.testnetMeter, log }, started);
}

async function main(): Promise<void> {
  const config = writerConfig(process.env);
  const log = createLogger("writer", config.LOG_LEVEL);
  for (const event of ["uncaughtException", "unhandledRejection"] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ error: errorText(error), stack: error instanceof Error ? error.stack : undefined }, event);
      process.exit(1);
    });
  }

  const parts: Part[] = [];
  let stopping = false;
  async function stop(signal: NodeJS.Signals): Promise<void> {
    if (stopping) return;
    stopping = true;
    log.info({ signal }, "stopping");
    setTimeout(() => {
      log.warn("stopped before everything was finished; the tables know the rest");
      process.exit(0);
    }, STOP_MS).unref();
    await Promise.all(parts.map((part) => part.stop()));
    log.info("stopped");
    process.exit(0);
  }
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);

  await start(log, config, (part) => parts.push(part));
  log.info("the writer is ready");
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(1);
});
