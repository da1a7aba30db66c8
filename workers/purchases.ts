import type { WriterConfig } from "../lib/config.ts";
import type { Logger } from "../lib/log.ts";
import { openPurchaseQueue, startPurchaseWorker } from "../lib/queues.ts";
import { mainKeys, walletKeys } from "./keys.ts";
import type { Meter } from "./metrics/meter.ts";
import type { Place } from "./place.ts";
import { queueOptionsOf } from "./queue-options.ts";
import { createEngine } from "./relayer/engine.ts";
import { type Relayer, startRelayer } from "./relayer/start.ts";

/** Connections to Postgres: signing rounds of several wallets, and what follows them. */
const CONNECTIONS = 10;

/** Starts the relayer of the main chain's purchases. Rejects when the queue's server is away. */
export async function startPurchases({
  config,
  deployment,
  chain,
  meter,
  log,
}: Place & { config: WriterConfig; meter: Meter; log: Logger }): Promise<Relayer> {
  const queueOptions = queueOptionsOf(config, log);
  const queue = openPurchaseQueue(queueOptions);
  const keys = walletKeys(mainKeys(config));
  const engine = createEngine({ config, deployment, chain, keys, connections: CONNECTIONS, meter, log });
  const concurrency = config.PURCHASE_CONCURRENCY;
  const relayer = await startRelayer({
    engine,
    budgets: config,
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
