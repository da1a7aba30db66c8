import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Address } from "viem";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { abandonedWallets } from "../../lib/ledger/in-flight.ts";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import { errorText } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import type { ChainServiceOptions } from "../common/chains.ts";
import { type Loop, startLoop } from "../common/loop.ts";
import { endSilentSessions } from "../ledger/housekeeping.ts";
import { createMarks } from "../ledger/intent-marks.ts";
import { RENEW_MS } from "../ledger/leases.ts";
import type { ChainContext } from "./chain-context.ts";
import { checkBlocks } from "./check-blocks.ts";
import { callCap, createCallPricer, createFeeMarket } from "./fees.ts";
import type { RecoveryContext } from "./recovery/context.ts";
import { keeperTargets } from "./recovery/reconcile.ts";
import { recover } from "./recovery/recover.ts";
import { createSender, type Send } from "./send-round.ts";
import { type SettleReceipts, settleReceipts } from "./settle-receipts.ts";
import { createWalletPool, keepLeases, releaseLeases, type WalletKey } from "./wallets.ts";
import { createChainHead, createPace, type Pace, type WatcherContext, watchBlocks } from "./watch-blocks.ts";

const RECOVER_MS = 1000;
/** How often the writer looks for abandoned wallets, in ms. */
const ABANDONED_CHECK_MS = 30_000;

export type EngineOptions = ChainServiceOptions & {
  keys: readonly WalletKey[];
  /** Connections to Postgres for statements that must not wait. */
  connections: number;
};

type LoopName = "watching" | "recovering" | "leasing" | "abandoned";

/** Sends from the wallets of one chain, and takes every signed transaction to an outcome. */
export type Engine = ChainContext & {
  readonly deployment: Deployment;
  readonly watcher: WatcherContext;
  readonly recovery: RecoveryContext;
  /** Empty until the engine is started. */
  readonly loops: Map<LoopName, Loop>;
  readonly pace: Pace;
  readonly closeConnections: () => Promise<unknown>;
};

/** Builds the engine of a chain: leases on the wallets, the watcher of the chain, the recovery. Starts nothing. */
export function createEngine(options: EngineOptions): Engine {
  const { config, deployment, chain, keys, connections, meter, log } = options;
  const { chainId } = deployment;
  const { MAX_FEE_GWEI: maxFee, CONFIRMATIONS: confirmations } = config;
  const { sql, close } = connect(config.DATABASE_URL, { name: "writer", max: connections });

  const market = createFeeMarket(chain, config.MAX_PRIORITY_FEE_GWEI);
  const head = createChainHead(chain);
  const loops: Engine["loops"] = new Map();
  const pace = createPace();
  const countedAt: RecoveryContext["countedAt"] = new Map();
  const minedUnknown: RecoveryContext["minedUnknown"] = new Map();
  const broadcast = createSender({ sql, chain, meter, log });
  const send: Send = async (signed, form) => {
    if (form !== "again") pace.sent(signed.hash);
    await broadcast(signed, form);
    if (form !== "again") loops.get("watching")?.nudge();
  };
  const coverRouter = lower(deployment.contracts.coverRouter);
  const settler = { sql, chain, coverRouter, meter, log };
  const owner = `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`;
  const { isNodeAnswering } = head;
  const { GAS_BUDGET_ETH: budget, KEEPER_GAS_BUDGET_ETH: keeperBudget } = config;
  const gasBudgetOf = (role: WalletRole) => (role === "keeper" ? keeperBudget : budget);
  const budgetsOf = (role: WalletRole) => ({
    gasBudget: gasBudgetOf(role),
    ...(role === "relayer" && { gasBudgetPerWallet: config.GAS_BUDGET_PER_WALLET_ETH }),
  });
  const wallets = createWalletPool({ sql, chain, chainId, owner, keys, budgetsOf, log, isNodeAnswering });
  const settle: SettleReceipts = (own, receipts) => {
    pace.mined(receipts.map(({ hash }) => hash));
    return settleReceipts(settler, own, receipts);
  };
  const costs = { market, price: createCallPricer(chain), maxCallFee: callCap(maxFee) };
  const markOf = createMarks(sql);
  const context: ChainContext = { ...costs, sql, chain, chainId, markOf, wallets, send, meter, log };
  const limits = { maxFee, gasBudgetOf, ttl: config.PURCHASE_TTL };
  const finality = { confirmations, settleReceipts: settle };
  return {
    ...context,
    deployment,
    watcher: {
      ...context,
      ...finality,
      head,
      onHead: async (block, reorganised) => {
        const dropped = await checkBlocks({ ...context, ...finality, coverRouter }, block, reorganised);
        if (reorganised) {
          countedAt.clear();
          minedUnknown.clear();
        }
        if (dropped) loops.get("recovering")?.nudge();
      },
    },
    recovery: {
      ...context,
      ...finality,
      ...limits,
      coverRouter,
      usdc: lower(deployment.contracts.usdc),
      keeperTargets: keeperTargets(deployment),
      nextSearchAt: new Map(),
      minedUnknown,
      unknownMissingFrom: new Map(),
      comparing: undefined,
      countedAt,
      finalMissingAt: new Map(),
      height: head.height,
      repeatedAt: new Map(),
    },
    loops,
    pace,
    closeConnections: close,
  };
}

/**
 * Begins to keep the wallets' leases and to watch the chain.
 *
 * @param onWallets called when the writer gets its first wallet besides the keeper's, and when it loses its last one.
 */
export async function startEngine(engine: Engine, onWallets: (hasWallets: boolean) => void): Promise<void> {
  const { sql, wallets, recovery, loops, log } = engine;
  wallets.onChange = onWallets;
  // The first attempt comes before all loops, so that a writer that reports it is ready can send at once.
  await keepLeases(wallets).catch((error: unknown) => log.warn({ err: errorText(error) }, "no wallet yet"));
  const begin = (loop: LoopName, options: Omit<Parameters<typeof startLoop>[0], "log">) =>
    loops.set(loop, startLoop({ ...options, log }));
  begin("watching", {
    name: "watching the chain",
    pauseMs: engine.pace.pauseMs,
    round: () => watchBlocks(engine.watcher),
  });
  begin("recovering", { name: "recovering", pauseMs: () => RECOVER_MS, round: () => recover(recovery) });
  const logged = new Set<Address>();
  begin("abandoned", {
    name: "looking for abandoned wallets",
    pauseMs: () => ABANDONED_CHECK_MS,
    round: () => logAbandonedWallets(engine, logged),
  });
  begin("leasing", {
    name: "keeping the wallets",
    pauseMs: () => RENEW_MS,
    async round() {
      const ended = await endSilentSessions(sql);
      if (ended > 0)
        log.warn({ ended }, "ended database sessions of a writer that went silent in a transaction");
      await keepLeases(wallets);
    },
  });
}

/** Logs, each once, the wallets with open transactions that no writer sends from. */
async function logAbandonedWallets({ sql, chainId, log }: Engine, logged: Set<Address>): Promise<void> {
  const abandoned = await abandonedWallets(sql, chainId);
  for (const wallet of logged) if (!abandoned.some((one) => one.wallet === wallet)) logged.delete(wallet);
  for (const { wallet, open } of abandoned) {
    if (logged.has(wallet)) continue;
    logged.add(wallet);
    log.error(
      { chainId, wallet, open },
      "no writer sends from a wallet with open transactions: restore its key, or run npm run ledger -- give-up <address>",
    );
  }
}

/** Gives the wallets back; the next writer finds all unfinished work in the ledger. */
export async function stopEngine({ wallets, loops, closeConnections }: Engine): Promise<void> {
  await Promise.all([...loops.values()].map((loop) => loop.stop()));
  await releaseLeases(wallets);
  await closeConnections();
}
