import { randomUUID } from "node:crypto";
import { hostname } from "node:os";
import type { Sql } from "postgres";
import type { WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { RENEW_MS } from "../ledger/leases.ts";
import { startLoop } from "../loop.ts";
import type { Meter } from "../metrics/meter.ts";
import type { Chain } from "./chain.ts";
import { createConfirmer } from "./confirm.ts";
import { createHead } from "./head.ts";
import { createMarket, type MarketSource } from "./market.ts";
import { createRecovery } from "./recovery.ts";
import { createSender, type Send } from "./sender.ts";
import { createSettler } from "./settle.ts";
import { createWallets, type WalletKey, type Wallets } from "./wallets.ts";
import { createWatcher } from "./watcher.ts";

/** How often the chain's head is asked for, in ms: while transactions are on their way, and while none is. */
const WATCH_BUSY_MS = 200;
const WATCH_IDLE_MS = 1000;
/** So long after the last transaction was sent the writer is busy, in ms. */
const BUSY_FOR_MS = 15_000;
const RECOVER_MS = 1000;

export type EngineOptions = {
  config: Pick<WriterConfig, "DATABASE_URL" | "MAX_FEE_GWEI" | "CONFIRMATIONS" | "PURCHASE_TTL">;
  deployment: Deployment;
  chain: Chain;
  keys: readonly WalletKey[];
  /** Connections to Postgres for what must not wait. */
  connections: number;
  meter: Meter;
  log: Logger;
};

/** What sends from the wallets of one chain, and sees to it that whatever was signed comes to its end. */
export type Engine = {
  readonly sql: Sql;
  readonly chain: Chain;
  readonly chainId: number;
  readonly deployment: Deployment;
  readonly wallets: Wallets;
  readonly market: MarketSource;
  readonly send: Send;
  /** The most that a gas may cost, in wei. */
  readonly maxFee: bigint;
  /** Bytes are on their way: the next blocks are worth watching closely. */
  readonly onSent: () => void;
  readonly meter: Meter;
  readonly log: Logger;
  /** Begins to keep the wallets and to watch the chain. `onChange` hears when there are wallets of ours, and when none is. */
  start(onChange: (some: boolean) => void): Promise<void>;
  /** Gives the wallets back; whatever was under way is found in the ledger by the next writer. */
  stop(): Promise<void>;
};

/** Puts it together: leases on the wallets, the watcher of the chain, the recovery. Nothing begins before `start`. */
export function createEngine(options: EngineOptions): Engine {
  const { config, deployment, chain, keys, connections, meter, log } = options;
  const { chainId } = deployment;
  const { sql, close } = connect(config.DATABASE_URL, { name: "writer", max: connections });
  const notes = connect(config.DATABASE_URL, { name: "writer-notes", max: 2, durable: false });
  const { MAX_FEE_GWEI: maxFee, CONFIRMATIONS: confirmations } = config;

  const market = createMarket(chain);
  const head = createHead(chain);
  const send = createSender({ sql, notes: notes.sql, chain, meter, log });
  const coverRouter = lower(deployment.contracts.coverRouter);
  const settleReceipts = createSettler({ sql, chain, coverRouter, meter, log });
  let onChange = (_some: boolean): void => {};
  const wallets = createWallets({
    sql,
    chain,
    chainId,
    owner: `${hostname()}-${process.pid}-${randomUUID().slice(0, 8)}`,
    keys,
    log,
    chainAnswers: head.answers,
    onChange: (some) => onChange(some),
  });
  const recover = createRecovery({
    sql,
    chain,
    chainId,
    confirmations,
    market,
    wallets,
    send,
    settleReceipts,
    maxFee,
    ttl: config.PURCHASE_TTL,
    meter,
    log,
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
      if (await confirm(block, reorganised)) nudge("recovering");
    },
  });

  let lastSent = Number.NEGATIVE_INFINITY;
  const watchPauseMs = () => (performance.now() - lastSent < BUSY_FOR_MS ? WATCH_BUSY_MS : WATCH_IDLE_MS);
  const rounds = {
    watching: { name: "watching the chain", pauseMs: watchPauseMs, round: watch },
    recovering: { name: "recovering", pauseMs: () => RECOVER_MS, round: recover },
    leasing: { name: "keeping the wallets", pauseMs: () => RENEW_MS, round: wallets.keepAll },
  };
  const loops = new Map<keyof typeof rounds, ReturnType<typeof startLoop>>();
  const nudge = (loop: keyof typeof rounds) => loops.get(loop)?.nudge();
  const begin = (loop: keyof typeof rounds) => loops.set(loop, startLoop({ ...rounds[loop], log }));

  return {
    sql,
    chain,
    chainId,
    deployment,
    wallets,
    market,
    send,
    maxFee,
    onSent() {
      lastSent = performance.now();
      nudge("watching");
    },
    meter,
    log,
    async start(listener) {
      onChange = listener;
      // Tried once before anything else begins, so that a writer that says it is ready sends at once.
      await wallets
        .keepAll()
        .catch((error: unknown) => log.warn({ error: errorText(error) }, "no wallet yet"));
      begin("watching");
      begin("recovering");
      begin("leasing");
    },
    async stop() {
      await Promise.all([...loops.values()].map((loop) => loop.stop()));
      await wallets.release();
      await Promise.all([close(), notes.close()]);
    },
  };
}
