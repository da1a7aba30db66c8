import { openPurchaseQueue } from "../../lib/queues/queue.ts";
import { startPurchaseWorker } from "../../lib/queues/worker.ts";
import type { ChainServiceOptions } from "../common/chains.ts";
import { queueOptionsOf } from "../common/queue-options.ts";
import { hasKeeper, mainKeys, walletKeys } from "../common/wallet-keys.ts";
import { startKeeper } from "../keeper/start.ts";
import type { ContractMeter } from "../metrics/contract-metrics.ts";
import type { KeeperMeter } from "../metrics/keeper-metrics.ts";
import { createEngine } from "../relayer/engine.ts";
import { startRelayer } from "../relayer/relayer.ts";
import { watchUpgrades } from "./watch-upgrades.ts";

/** Connections to Postgres: enough for signing rounds of several wallets beside each other, and for settling. */
const CONNECTIONS = 5;

/**
 * Starts what sends on the main chain: the relayer of purchases, and the keeper, if it has a key. Rejects when the queue's server
 * is down.
 */
export async function startSending(
  options: ChainServiceOptions & { keeperMeter: KeeperMeter; contractMeter: ContractMeter },
) {
  const { config, keeperMeter, contractMeter, log } = options;
  const queueOptions = queueOptionsOf(config, log);
  const queue = openPurchaseQueue(queueOptions);
  const keys = walletKeys(mainKeys(config));
  const engine = createEngine({ ...options, keys, connections: CONNECTIONS });
  const concurrency = config.PURCHASE_CONCURRENCY;
  const relayer = await startRelayer({
    engine,
    budgets: config,
    archiveAfterDays: config.ARCHIVE_AFTER_DAYS,
    wake: queue.wake,
    startWorker: (handle) => startPurchaseWorker({ ...queueOptions, concurrency, handle }),
    onQueueError: queueOptions.onError,
  });
  const { sql, chain, deployment } = engine;
  const upgrades = watchUpgrades({
    sql,
    viewsSchema: config.VIEWS_SCHEMA,
    client: chain.client,
    deployment,
    meter: contractMeter,
    log,
  });
  const keeper = hasKeeper(config) ? startKeeper(engine, config, keeperMeter) : undefined;
  return {
    async stop() {
      await Promise.all([keeper?.stop(), upgrades.stop()]);
      await relayer.stop();
      await queue.close();
    },
  };
}
