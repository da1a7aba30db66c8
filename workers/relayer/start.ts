import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { lower } from "../../lib/ledger/lower.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { openPurchaseQueue, startPurchaseWorker } from "../../lib/queues.ts";
import { soon } from "../../lib/within.ts";
import { takeForgotten } from "../ledger/accepted.ts";
import { RENEW_MS } from "../ledger/leases.ts";
import { SIGN_WITHIN_SECONDS } from "../ledger/signed.ts";
import { startLoop } from "../loop.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Chain } from "./chain.ts";
import { createConfirmer } from "./confirm.ts";
import { createHead } from "./head.ts";
import { createMarket } from "./market.ts";
import { createRecovery } from "./recovery.ts";
import { createRelay } from "./relay.ts";
import { createSender } from "./sender.ts";
import { createSettler } from "./settle.ts";
import { createWallets } from "./wallets.ts";
import { createWatcher } from "./watcher.ts";

/** How often the chain's head is asked for, in ms: while transactions are on their way, and while none is. */
const WATCH_BUSY_MS = 200;
const WATCH_IDLE_MS = 1000;
/** So long after the last transaction was sent the writer is busy, in ms. */
const BUSY_FOR_MS = 15_000;
const SWEEP_MS = 500;
/** A queue that takes longer, in ms, counts as away. */
const HAND_OVER_MS = 250;
const SWEEP_LIMIT = 200;
const RECOVER_MS = 1000;

export type RelayerOptions = {
  config: WriterConfig;
  deployment: Deployment;
  chain: Chain;
  meter: Meter;
  log: Logger;
};
export type Relayer = { stop(): Promise<void> };

/**
 * Starts everything that relays purchases on one chain: the leases on the wallets, the worker of the queue, the sweeper
 * that finds forgotten rows, the watcher, the recovery. Rejects when the queue's server is away.
 */
export async function startRelayer(options: RelayerOptions): Promise<Relayer> {
  const { config, deployment, chain, meter, log } = options;
  const { chainId } = deployment;
  const coverRouter = lower(deployment.contracts.coverRouter);
  const { sql, close } = connect(config.DATABASE_URL, { name: "writer", max: 10 });
  const notes = connect(config.DATABASE_URL, { name: "writer-notes", max: 2, durable: false });
  const { MAX_FEE_GWEI: maxFee, CONFIRMATIONS: confirmations } = config;
  const queueOptions = {
    databaseUrl: config.DATABASE_URL,
    redisUrl: config.REDIS_URL,
    onError: (error: Error) => log.warn({ error: errorText(error) }, "the queue reports an error"),
  };

  const market = createMarket(chain);
  const head = createHead(chain);
  const send = createSender({ sql, notes: notes.sql, chain, meter, log });
  const settleReceipts = createSettler({ sql, chain, coverRouter, meter, log });
  let ready = false;
  const wallets = createWallets({
    sql,
    chain,
    chainId,
    owner: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    privateKeys: config.RELAYER_PRIVATE_KEYS,
    log,
    chainAnswers: head.answers,
    onChange: (some) => {
      ready = some;
      // Without a wallet this writer leaves the jobs to one that has some.
      if (some) worker.resume();
      else void worker.pause().catch(queueOptions.onError);
    },
  });

  let lastSent = Number.NEGATIVE_INFINITY;
  const onSent = () => {
    lastSent = performance.now();
    watching.nudge();
  };
  const spender = { sql, chain, chainId, market, wallets, send, maxFee, meter, log };
  const relay = createRelay({
    ...spender,
    coverRouter,
    budgets: {
      gasBudget: config.GAS_BUDGET_ETH,
      gasBudgetPerWallet: config.GAS_BUDGET_PER_WALLET_ETH,
    },
    onSent,
  });
  const recover = createRecovery({
    ...spender,
    confirmations,
    settleReceipts,
    ttl: config.PURCHASE_TTL,
  });
  const confirm = createConfirmer({ sql, chain, chainId, confirmations, log });
  const watch = createWatcher({
    sql,
    chain,
    head,
    chainId,
    confirmations,
    market,
    settleReceipts,
    meter,
    log,
    onHead: async (block, reorganised) => {
      if (await confirm(block, reorganised)) recovering.nudge();
    },
  });

  const queue = openPurchaseQueue(queueOptions);
  const worker = await startPurchaseWorker({
    ...queueOptions,
    concurrency: config.PURCHASE_CONCURRENCY,
    handle: relay,
  });

  /**
   * Ends purchases that are too old to be signed by anybody, whatever the queue does. Gives the other forgotten ones to
   * the queue, and relays them without it when it is away; a writer without a wallet leaves them to others.
   */
  async function sweep(): Promise<void> {
    const take = (minAgeSeconds: number) =>
      takeForgotten(sql, chainId, { minAgeSeconds, limit: SWEEP_LIMIT });
    await Promise.all((await take(SIGN_WITHIN_SECONDS)).map(relay));
    if (!ready) return;
    await Promise.all(
      (await take(0)).map(async (id) => {
        const handed = queue.wake(id).then(() => true);
        if (!(await soon(HAND_OVER_MS, handed))) await relay(id);
      }),
    );
  }

  // Tried once before anything else begins, so that a writer that says it is ready sends at once.
  await wallets.keepAll().catch((error: unknown) => log.warn({ error: errorText(error) }, "no wallet yet"));
  const watching = startLoop({
    name: "watching the chain",
    log,
    pauseMs: () => (performance.now() - lastSent < BUSY_FOR_MS ? WATCH_BUSY_MS : WATCH_IDLE_MS),
    round: watch,
  });
  const recovering = startLoop({ name: "recovering", log, pauseMs: () => RECOVER_MS, round: recover });
  const sweeping = startLoop({ name: "sweeping", log, pauseMs: () => SWEEP_MS, round: sweep });
  const leasing = startLoop({
    name: "keeping the wallets",
    log,
    pauseMs: () => RENEW_MS,
    round: wallets.keepAll,
  });

  return {
    /** Finishes the jobs at work; whatever else was under way is found in the ledger by the next writer. */
    async stop() {
      await Promise.all([worker.close(), sweeping.stop()]);
      await Promise.all([watching.stop(), recovering.stop(), leasing.stop()]);
      await wallets.release();
      await queue.close();
      await Promise.all([close(), notes.close()]);
    },
  };
}
