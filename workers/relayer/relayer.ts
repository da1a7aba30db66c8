import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import type { QueueWorker } from "../../lib/queues/worker.ts";
import { valueWithin } from "../../lib/timeout.ts";
import { startLoop } from "../common/loop.ts";
import { archivePurchases } from "../ledger/housekeeping.ts";
import { takeForgotten } from "../ledger/waiting.ts";
import { type Engine, startEngine, stopEngine } from "./engine.ts";
import { createRelayContext, type RelayContext, relayPurchase } from "./relay-purchase.ts";
import { walletsOf } from "./wallets.ts";

const SWEEP_MS = 1000;
/** A queue that takes longer for a wake-up counts as down, in ms. */
const WAKE_MS = 250;
const SWEEP_LIMIT = 200;
/** The pause after purchases were archived, and after a search that found none, in ms. */
const ARCHIVE_NEXT_MS = 200;
const ARCHIVE_IDLE_MS = 60_000;

export type RelayerOptions = {
  engine: Engine;
  budgets: Pick<WriterConfig, "GAS_BUDGET_ETH" | "GAS_BUDGET_PER_WALLET_ETH">;
  /** After how many days final purchases are archived. */
  archiveAfterDays: number;
  /** Adds a purchase to the queue. Rejects when the queue is down. */
  wake: (id: string) => Promise<void>;
  /** Starts the queue's worker, paused. Rejects when the queue's server is down. */
  startWorker: (relay: (id: string, traceparent?: string) => Promise<void>) => Promise<QueueWorker>;
  onQueueError: (error: Error) => void;
};
export type Relayer = { stop(): Promise<void> };

/**
 * Starts the relaying of a chain's purchases: the engine, the queue's worker, the sweeper, which finds purchases after
 * their wake-up was lost, and the archiving of old ones. Rejects when the queue's server is down.
 */
export async function startRelayer(options: RelayerOptions): Promise<Relayer> {
  const { engine, budgets, archiveAfterDays, wake, onQueueError } = options;
  const context = createRelayContext({
    ...engine,
    coverRouter: lower(engine.deployment.contracts.coverRouter),
    usdc: lower(engine.deployment.contracts.usdc),
    bondVault: lower(engine.deployment.contracts.bondVault),
    headNumber: () => engine.watcher.last?.number,
    budgets: { gasBudget: budgets.GAS_BUDGET_ETH, gasBudgetPerWallet: budgets.GAS_BUDGET_PER_WALLET_ETH },
  });
  const worker = await options.startWorker((id, traceparent) => {
    if (traceparent !== undefined) engine.log.info({ purchase: id, traceparent }, "relaying a purchase");
    return relayPurchase(context, id);
  });
  await startEngine(engine, (hasWallets) => {
    // A writer without a wallet leaves the jobs to one that has a wallet.
    if (hasWallets) worker.resume();
    else void worker.pause().catch(onQueueError);
  });
  const sweeper = startLoop({
    name: "sweeping",
    log: engine.log,
    pauseMs: () => SWEEP_MS,
    round: () => sweepPurchases(context, wake),
  });
  let archivedLast = false;
  const archiver = startLoop({
    name: "archiving",
    log: engine.log,
    pauseMs: () => (archivedLast ? ARCHIVE_NEXT_MS : ARCHIVE_IDLE_MS),
    async round() {
      const archived = await archivePurchases(engine.sql, engine.chainId, archiveAfterDays);
      archivedLast = archived > 0;
      if (archived > 0) engine.log.info({ purchases: archived }, "archived old purchases");
    },
  });

  return {
    /** Finishes the jobs that have begun; the next writer finds everything else in the ledger. */
    async stop() {
      await Promise.all([worker.close(), sweeper.stop(), archiver.stop()]);
      await stopEngine(engine);
    },
  };
}

/**
 * Fails purchases that are too old to be signed, also while the queue is down. Adds the other forgotten ones to the
 * queue, or relays them itself when the queue is down. A writer without a wallet leaves those to other writers.
 */
async function sweepPurchases(context: RelayContext, wake: RelayerOptions["wake"]): Promise<void> {
  const { sql, chainId, wallets } = context;
  const onlyOverdue = walletsOf(wallets, "relayer").length === 0;
  const forgotten = await takeForgotten(sql, chainId, { onlyOverdue, limit: SWEEP_LIMIT });
  await Promise.all(
    forgotten.map(async ({ id, overdue }) => {
      const woken = () => wake(id).then(() => true);
      if (overdue || !(await valueWithin(WAKE_MS, woken()))) await relayPurchase(context, id);
    }),
  );
}
