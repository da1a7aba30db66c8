import { drizzle } from "drizzle-orm/postgres-js";
import { LRUCache } from "lru-cache";
import type { WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import * as indexed from "../../ponder.schema.ts";
import { startLoop } from "../common/loop.ts";
import type { KeeperMeter } from "../metrics/keeper-metrics.ts";
import type { Engine } from "../relayer/engine.ts";
import { relayServiceTransactions, type ServiceTransactionContext } from "../service-transactions/relay.ts";
import { auditNext } from "./audit/running-audit.ts";
import { MAX_CALL_GAS } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import { openCoverChain } from "./from-chain/cover-chain.ts";
import { keep } from "./keep.ts";
import { forgetTasks } from "./task-records.ts";

/** How often the keeper looks for due tasks, in ms: while there are some, and while there are none. */
const LOOK_MS = 300;
const IDLE_LOOK_MS = 700;
/** How often recorded batches are looked for, in ms; a new one ends the pause. */
const RELAY_MS = 1000;
/** A task that somebody else has done, or that would change nothing yet, is looked at again after this time, in ms. */
const LEFT_ALONE_MS = 10_000;
/** For so long a receiver counts as a contract, in ms; one without code is asked for it before each payout. */
const CODE_MS = 60_000;
/** Most names of tasks that are remembered. */
const MAX_NAMES = 10_000;
/** How often the audit goes on, in ms: it reads the logs of the longest cover. */
const AUDIT_MS = 600_000;
/** How often old tasks are forgotten, in ms. */
const FORGET_MS = 3_600_000;

/**
 * Starts the keeper: it finds due policies, expired ones and payable entries of the redemption queue in the index, and sends their
 * calls through the relay ledger, from a wallet and a gas budget of its own. While there is no index, it reads due policies from the
 * chain.
 */
export function startKeeper(engine: Engine, config: WriterConfig, meter: KeeperMeter) {
  const { deployment, log } = engine;
  const { DATABASE_URL: url, VIEWS_SCHEMA: viewsSchema, KEEPER_GAS_BUDGET_ETH: gasBudget } = config;
  const ending = new AbortController();
  readFrom(indexed, viewsSchema);
  const snapshots = connect(url, { name: "keeper-index", max: 1, freshPlans: true });
  const relayContext: ServiceTransactionContext = {
    ...engine,
    gasBudget,
    mostGas: MAX_CALL_GAS,
    lastReasons: new Map(),
  };
  const relaying = startLoop({
    name: "sending the keeper's transactions",
    log,
    pauseMs: () => RELAY_MS,
    round: () => relayServiceTransactions(relayContext),
  });
  const context: KeeperContext = {
    ...engine,
    ...{ contracts: deployment.contracts, gasBudget, meter, onBatch: relaying.nudge },
    index: drizzle(snapshots.sql, { casing: "snake_case" }),
    cover: openCoverChain(deployment, config.RPC_URL, {
      signal: ending.signal,
      warn: (text) => log.warn({ chain: deployment.name }, text),
    }),
    chainHead: () => engine.watcher.last?.number,
    indexHead: { hash: undefined, since: performance.now() },
    idle: { hash: undefined, since: Number.NEGATIVE_INFINITY },
    usesIndex: undefined,
    scannedAt: performance.now(),
    scanned: undefined,
    leftAlone: new LRUCache({ max: MAX_NAMES, ttl: LEFT_ALONE_MS }),
    reverted: new LRUCache({ max: MAX_NAMES }),
    sequenceFrom: 0,
    withCode: new LRUCache({ max: MAX_NAMES, ttl: CODE_MS }),
    ways: { of: new Map(), fault: undefined, asked: new Set(), readAt: Number.NEGATIVE_INFINITY },
    checkedAt: Number.NEGATIVE_INFINITY,
    watchedAt: Number.NEGATIVE_INFINITY,
    measuredTo: undefined,
    fault: undefined,
    funds: undefined,
    lack: undefined,
  };
  const keeping = startLoop({
    name: "the keeper",
    log,
    pauseMs: () => (context.idle.hash === undefined ? LOOK_MS : IDLE_LOOK_MS),
    async round() {
      if (await keep(context)) keeping.nudge();
    },
  });
  const forgetting = startLoop({
    name: "forgetting the keeper's old tasks",
    log,
    pauseMs: () => FORGET_MS,
    round: () => forgetTasks(engine.sql, engine.chainId, config.ARCHIVE_AFTER_DAYS),
  });
  const auditing = startLoop({
    name: "the keeper's audit",
    log,
    pauseMs: () => AUDIT_MS,
    async round() {
      if (await auditNext({ ...context, confirmations: config.CONFIRMATIONS })) auditing.nudge();
    },
  });
  return {
    async stop() {
      ending.abort();
      await Promise.all([keeping.stop(), relaying.stop(), forgetting.stop(), auditing.stop()]);
      await snapshots.close();
    },
  };
}
