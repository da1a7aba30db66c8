import type { WriterConfig } from "../lib/config.ts";
import type { Deployment } from "../lib/deployments.ts";
import type { Logger } from "../lib/log.ts";
import { openTestnetQueue, startTestnetWorker } from "../lib/queues.ts";
import { createErrandRelay } from "./errands/relay.ts";
import { startStanding } from "./errands/standing.ts";
import { testnetKeys, walletKeys } from "./keys.ts";
import { startLoop } from "./loop.ts";
import type { Meter } from "./metrics/meter.ts";
import { queueOptionsOf } from "./queue-options.ts";
import type { Chain } from "./relayer/chain.ts";
import { createEngine } from "./relayer/engine.ts";
import { startRelayer } from "./relayer/start.ts";
import { startUpkeep } from "./sandbox/upkeep.ts";

/** Connections to Postgres; there is little to do. */
const CONNECTIONS = 4;
/** What the sandbox buys at once. */
const CONCURRENCY = 50;
/** How often accepted errands are looked for, in ms; one that its queue wakes the writer for does not wait so long. */
const ERRANDS_MS = 500;

export type TestnetOptions = {
  config: WriterConfig;
  deployment: Deployment;
  chain: Chain;
  meter: Meter;
  log: Logger;
};

/**
 * Starts what the writer does on the testnet: relays the sandbox's purchases, keeps its wallet funded, pays the faucet's
 * grants. Rejects when the queue's server is away.
 */
export async function startTestnet({ config, deployment, chain, meter, log }: TestnetOptions) {
  const queueOptions = queueOptionsOf(config, log);
  const queue = openTestnetQueue(queueOptions);
  const keys = walletKeys(testnetKeys(config));
  const engine = createEngine({ config, deployment, chain, keys, connections: CONNECTIONS, meter, log });
  const { GAS_BUDGET_ETH } = config;
  // The queue's jobs come as soon as there are wallets, which may be before the loop is there: it begins with a round.
  let wakeErrands = (): void => {};
  const relayer = await startRelayer({
    engine,
    // All of the sandbox's purchases are one wallet's.
    budgets: { GAS_BUDGET_ETH, GAS_BUDGET_PER_WALLET_ETH: GAS_BUDGET_ETH },
    wake: queue.wakePurchase,
    startWorker: (relay) =>
      startTestnetWorker({
        ...queueOptions,
        concurrency: CONCURRENCY,
        async handle({ kind, id }) {
          if (kind === "purchase") await relay(id);
          else wakeErrands();
        },
      }),
    onQueueError: queueOptions.onError,
  });
  const errands = startLoop({
    name: "running errands",
    log,
    pauseMs: () => ERRANDS_MS,
    round: createErrandRelay(engine, GAS_BUDGET_ETH),
  });
  wakeErrands = errands.nudge;
  const upkeep = startUpkeep(engine, { gasBudget: GAS_BUDGET_ETH, onErrand: errands.nudge });
  const standing = startStanding(engine, GAS_BUDGET_ETH);
  return {
    async stop() {
      await Promise.all([errands.stop(), upkeep.stop(), standing.stop()]);
      await relayer.stop();
      await queue.close();
    },
  };
}
