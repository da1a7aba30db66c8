import { setTimeout as sleep } from "node:timers/promises";
import { ConfigError, type WriterConfig, writerConfig } from "../lib/config.ts";
import { migrateService } from "../lib/db/migrate.ts";
import { createLogger, errorText, type Logger } from "../lib/log.ts";
import { LOOPBACK_HOSTS } from "../lib/webhooks/allowed-hosts.ts";
import { mainKeys, requireOwnSecretsKey, testnetKeys } from "./keys.ts";
import { type Metrics, startMetrics } from "./metrics/server.ts";
import { startOutbox } from "./outbox/start.ts";
import { openPlaces, type Place, requirePlace } from "./place.ts";
import { startPurchases } from "./purchases.ts";
import { startTestnet } from "./testnet.ts";
import { untilItWorks } from "./until-it-works.ts";
import { startDelivery } from "./webhooks/start.ts";

/**
 * The writer: the only process that holds keys. It waits for the servers that it needs, however long they take, relays
 * purchases and tells subscribers of events until it is told to stop, and then leaves within ten seconds; what it could
 * not finish is in the tables.
 */

const STOP_MS = 9_000;
/** So long the start waits for the testnet's node, in ms: a wrong one is named before anything begins. */
const TESTNET_CHECK_MS = 2000;
/** And so long, when all else is at work, for sandbox and faucet, before the writer says that it is ready. */
const TESTNET_READY_MS = 5000;

type Part = { stop(): Promise<void> };

/** What the parts of a start share; `started` hears of each part, so that a stop finds those that there are. */
type Start = {
  config: WriterConfig;
  metrics: Metrics;
  /** Resolves when the service's schema is there. */
  migrated: Promise<void>;
  started: (part: Part) => void;
  log: Logger;
};

/** Purchases and webhooks of the main chain. */
async function startMain({ config, metrics, migrated, started, log }: Start, main: Place): Promise<void> {
  const { deployment, chain } = main;
  const local = await untilItWorks("the chain", log, async () => {
    const isLocal = await requirePlace(main, mainKeys(config), "");
    requireOwnSecretsKey(config.SECRETS_KEY, isLocal);
    return isLocal;
  });
  await migrated;
  const { meter, deliveryMeter } = metrics;
  const queueServer = config.REDIS_URL ? "Redis" : "the queue";
  // The relayer first: nothing about webhooks keeps it waiting.
  started(
    await untilItWorks(queueServer, log, () => startPurchases({ config, deployment, chain, meter, log })),
  );
  const allow = config.WEBHOOK_ALLOW_HOSTS ?? (local ? LOOPBACK_HOSTS : []);
  const delivery = await untilItWorks(queueServer, log, () =>
    startDelivery({ config, chainId: deployment.chainId, allow, meter: deliveryMeter, log }),
  );
  started(delivery);
  started(startOutbox({ config, deployment, onDeliveries: delivery.wake, log }));
}

/** Sandbox and faucet, once `fits` has found that the testnet is one. */
async function startOther(
  { config, metrics, migrated, started, log }: Start,
  { deployment, chain }: Place,
  fits: Promise<unknown>,
): Promise<void> {
  await fits;
  await migrated;
  const options = { config, deployment, chain, meter: metrics.testnetMeter, log };
  started(await untilItWorks("the queue of the testnet", log, () => startTestnet(options)));
}

/** Each chain's part begins when its own node answers, whatever the other's does. */
async function start(log: Logger, config: WriterConfig, started: (part: Part) => void): Promise<void> {
  const { main, testnet } = openPlaces(config);
  const metrics = await startMetrics({ config, ...main, testnet, log });
  const fits =
    testnet && untilItWorks("the testnet", log, () => requirePlace(testnet, testnetKeys(config), "TESTNET_"));
  await Promise.race([fits, sleep(TESTNET_CHECK_MS, undefined, { ref: false })]);
  const migrated = untilItWorks("Postgres", log, () => migrateService(config.DATABASE_URL));
  migrated.catch(() => {}); // whoever needs it hears of it
  const shared = { config, metrics, migrated, started, log };
  // What is found to be wrong with the testnet later is no reason to end the others.
  const other =
    testnet &&
    fits &&
    startOther(shared, testnet, fits).catch((error: unknown) =>
      log.error({ error: errorText(error) }, "no sandbox and no faucet"),
    );
  await startMain(shared, main);
  if (other) await Promise.race([other, sleep(TESTNET_READY_MS, undefined, { ref: false })]);
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

  try {
    await start(log, config, (part) => parts.push(part));
  } catch (error) {
    // What works already gives its wallets back: the other chain's part may have begun before a fault was found.
    await Promise.race([Promise.allSettled(parts.map((part) => part.stop())), sleep(STOP_MS)]);
    throw error;
  }
  log.info("the writer is ready");
}

main().catch((error: unknown) => {
  process.stderr.write(`${error instanceof ConfigError ? error.message : String(error)}\n`);
  process.exit(1);
});
