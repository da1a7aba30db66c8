import type { WriterConfig } from "../../lib/config.ts";
import { lower } from "../../lib/lower.ts";
import type { QueueWorker } from "../../lib/queues.ts";
import { soon } from "../../lib/within.ts";
import { takeForgotten } from "../ledger/accepted.ts";
import { SIGN_WITHIN_SECONDS } from "../ledger/signed.ts";
import { startLoop } from "../loop.ts";
import type { Engine } from "./engine.ts";
import { createRelay, type Relay } from "./relay.ts";

const SWEEP_MS = 500;
/** A queue that takes longer, in ms, counts as away. */
const HAND_OVER_MS = 250;
const SWEEP_LIMIT = 200;

export type RelayerOptions = {
  engine: Engine;
  budgets: Pick<WriterConfig, "GAS_BUDGET_ETH" | "GAS_BUDGET_PER_WALLET_ETH">;
  /** Gives a purchase to the queue. Rejects when that is away. */
  wake: (id: string) => Promise<void>;
  /** Starts the queue's receiving end, not yet taking jobs. Rejects when the queue's server is away. */
  startWorker: (relay: Relay) => Promise<QueueWorker>;
  onQueueError: (error: Error) => void;
};
export type Relayer = { stop(): Promise<void> };

/**
 * Starts what relays purchases over an engine, and the engine with it: the worker of the queue, and the sweeper that finds
 * forgotten rows. Rejects when the queue's server is away.
 */
export async function startRelayer(options: RelayerOptions): Promise<Relayer> {
  const { engine, budgets, wake, onQueueError } = options;
  const { sql, chainId, wallets, log } = engine;
  const relay = createRelay({
    ...engine,
    coverRouter: lower(engine.deployment.contracts.coverRouter),
    budgets: { gasBudget: budgets.GAS_BUDGET_ETH, gasBudgetPerWallet: budgets.GAS_BUDGET_PER_WALLET_ETH },
  });
  const worker = await options.startWorker(relay);

  /**
   * Ends purchases that are too old to be signed by anybody, whatever the queue does. Gives the other forgotten ones to
   * the queue, and relays them without it when it is away; a writer without a wallet leaves them to others.
   */
  async function sweep(): Promise<void> {
    const take = (minAgeSeconds: number) =>
      takeForgotten(sql, chainId, { minAgeSeconds, limit: SWEEP_LIMIT });
    await Promise.all((await take(SIGN_WITHIN_SECONDS)).map(relay));
    if (wallets.of("relayer").length === 0) return;
    await Promise.all(
      (await take(0)).map(async (id) => {
        const handed = wake(id).then(() => true);
        if (!(await soon(HAND_OVER_MS, handed))) await relay(id);
      }),
    );
  }

  await engine.start((some) => {
    // Without a wallet this writer leaves the jobs to one that has some.
    if (some) worker.resume();
    else void worker.pause().catch(onQueueError);
  });
  const sweeping = startLoop({ name: "sweeping", log, pauseMs: () => SWEEP_MS, round: sweep });

  return {
    /** Finishes the jobs at work; whatever else was under way is found in the ledger by the next writer. */
    async stop() {
      await Promise.all([worker.close(), sweeping.stop()]);
      await engine.stop();
    },
  };
}
