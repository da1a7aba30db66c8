import { setDatabaseSchema } from "@ponder/client";
import { drizzle } from "drizzle-orm/postgres-js";
import type { WriterConfig } from "../../lib/config.ts";
import { connect } from "../../lib/db/connect.ts";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import * as indexed from "../../ponder.schema.ts";
import { startLoop } from "../common/loop.ts";
import type { KeeperMeter } from "../metrics/keeper-metrics.ts";
import type { Engine } from "../relayer/engine.ts";
import { relayServiceTransactions, type ServiceTransactionContext } from "../service-transactions/relay.ts";
import { MAX_BATCH_GAS, strictCall } from "./batches.ts";
import type { KeeperContext } from "./context.ts";
import { keep } from "./keep.ts";
import { forgetTasks } from "./tasks.ts";

/** How often the keeper looks for work, in ms: a few times a block. */
const LOOK_MS = 400;
/** How often recorded batches are looked for, in ms; a new one ends the pause. */
const RELAY_MS = 500;
/** How often old tasks are forgotten, in ms. */
const FORGET_MS = 3_600_000;

/**
 * Starts the keeper: it finds due policies, expired ones and payable entries of the redemption queue in the index, and sends their
 * calls through the relay ledger, from a wallet and a gas budget of its own. It waits while there is no index.
 */
export function startKeeper(engine: Engine, config: WriterConfig, meter: KeeperMeter) {
  const { deployment, log } = engine;
  const { DATABASE_URL: url, VIEWS_SCHEMA: viewsSchema, KEEPER_GAS_BUDGET_ETH: gasBudget } = config;
  const { multicall3 } = deployment;
  setDatabaseSchema(indexed, viewsSchema);
  const snapshots = connect(url, { name: "keeper-index", max: 1, freshPlans: true, snapshots: true });
  const relayContext: ServiceTransactionContext = {
    ...engine,
    gasBudget,
    simulated: { most: MAX_BATCH_GAS, callOf: (call) => strictCall(call, multicall3) },
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
    ...{ contracts: deployment.contracts, multicall3, gasBudget, meter, onBatch: relaying.nudge },
    index: drizzle(snapshots.sql, { casing: "snake_case" }),
    resting: new Map(),
    sequenceFrom: 0,
    checkedAt: Number.NEGATIVE_INFINITY,
    watchedAt: Number.NEGATIVE_INFINITY,
    minedUntil: undefined,
    fault: undefined,
  };
  const keeping = startLoop({
    name: "the keeper",
    log,
    pauseMs: () => LOOK_MS,
    async round() {
      const isMore = await keep(context).catch((error: unknown) => {
        // There is no index yet, or its views were replaced under the query.
        if (isNotBuilt(error) || isSwap(error)) return false;
        throw error;
      });
      if (isMore) keeping.nudge();
    },
  });
  const forgetting = startLoop({
    name: "forgetting the keeper's old tasks",
    log,
    pauseMs: () => FORGET_MS,
    round: () => forgetTasks(engine.sql, engine.chainId, config.ARCHIVE_AFTER_DAYS),
  });
  return {
    async stop() {
      await Promise.all([keeping.stop(), relaying.stop(), forgetting.stop()]);
      await snapshots.close();
    },
  };
}
