import { MAX_SERVICE_TRANSACTION_GAS } from "../../lib/ledger/gas-limits.ts";
import { openTestnetQueue } from "../../lib/queues/queue.ts";
import { startTestnetWorker } from "../../lib/queues/worker.ts";
import type { ChainServiceOptions } from "../common/chains.ts";
import { startLoop } from "../common/loop.ts";
import { queueOptionsOf } from "../common/queue-options.ts";
import { testnetKeys, walletKeys } from "../common/wallet-keys.ts";
import { createEngine } from "../relayer/engine.ts";
import { startRelayer } from "../relayer/relayer.ts";
import { relayServiceTransactions, type ServiceTransactionContext } from "../service-transactions/relay.ts";
import { startFaucetHealth } from "./faucet-health.ts";
import { startUpkeep } from "./upkeep.ts";

/** Connections to Postgres; there is little to do. */
const CONNECTIONS = 2;
/** Purchases of the sandbox that are handled at the same time. */
const CONCURRENCY = 50;
/** How often accepted service transactions are looked for, in ms; a wake-up from the queue ends the pause. */
const SERVICE_TRANSACTIONS_MS = 1000;

/**
 * Starts the writer's work on the testnet: relays the sandbox's purchases, funds its wallet, pays the faucet's grants.
 * Rejects when the queue's server is down.
 */
export async function startTestnet(options: ChainServiceOptions) {
  const { config, log } = options;
  const queueOptions = queueOptionsOf(config, log);
  const queue = openTestnetQueue(queueOptions);
  const keys = walletKeys(testnetKeys(config));
  const { GAS_BUDGET_ETH } = config;
  // One wallet makes all of the sandbox's purchases.
  const budgets = { GAS_BUDGET_ETH, GAS_BUDGET_PER_WALLET_ETH: GAS_BUDGET_ETH };
  const engine = createEngine({
    ...options,
    config: { ...config, ...budgets },
    keys,
    connections: CONNECTIONS,
  });
  // Jobs may arrive before the service transactions' loop exists. Nothing is lost: the loop begins with a round.
  let wakeServiceTransactions = (): void => {};
  const relayer = await startRelayer({
    engine,
    budgets,
    archiveAfterDays: config.ARCHIVE_AFTER_DAYS,
    wake: queue.wakePurchase,
    startWorker: (relay) =>
      startTestnetWorker({
        ...queueOptions,
        concurrency: CONCURRENCY,
        async handle({ kind, id }, traceparent) {
          if (kind === "purchase") return relay(id, traceparent);
          if (traceparent !== undefined) log.info({ claimId: id, traceparent }, "woken for a claim");
          wakeServiceTransactions();
        },
      }),
    onQueueError: queueOptions.onError,
  });
  const serviceTransactionContext: ServiceTransactionContext = {
    ...engine,
    gasBudget: GAS_BUDGET_ETH,
    mostGas: MAX_SERVICE_TRANSACTION_GAS,
    lastReasons: new Map(),
  };
  const serviceTransactions = startLoop({
    name: "running service transactions",
    log,
    pauseMs: () => SERVICE_TRANSACTIONS_MS,
    round: () => relayServiceTransactions(serviceTransactionContext),
  });
  wakeServiceTransactions = serviceTransactions.nudge;
  const upkeep = startUpkeep(engine, {
    gasBudget: GAS_BUDGET_ETH,
    onServiceTransaction: serviceTransactions.nudge,
  });
  const faucetHealth = startFaucetHealth(engine, GAS_BUDGET_ETH);
  return {
    async stop() {
      await Promise.all([serviceTransactions.stop(), upkeep.stop(), faucetHealth.stop()]);
      await relayer.stop();
      await queue.close();
    },
  };
}
