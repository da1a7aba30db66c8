import { openPurchaseQueue } from "../../lib/queues/queue.ts";
import { startPurchaseWorker } from "../../lib/queues/worker.ts";
import type { ChainServiceOptions } from "../common/chains.ts";
import { mainKeys, walletKeys } from "../common/private-keys.ts";
import { queueOptionsOf } from "../common/queue-options.ts";
import { createEngine } from "./engine.ts";
import { type Relayer, startRelayer } from "./relayer.ts";

/** Connections to Postgres: enough for signing rounds of several wallets beside each other, and for settling. */
const CONNECTIONS = 5;

/** Starts the relayer of the main chain's purchases. Rejects when the queue's server is down. */
export async function startPurchases(options: ChainServiceOptions): Promise<Relayer> {
  const { config, log } = options;
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
  return {
    async stop() {
      await relayer.stop();
      await queue.close();
    },
  };
}
