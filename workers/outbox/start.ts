import { connect } from "../../lib/db/connect.ts";
import { listenTo } from "../../lib/db/listen.ts";
import type { Deployment } from "../../lib/deployments.ts";
import { readFrom } from "../../lib/indexed/views-schema.ts";
import type { Logger } from "../../lib/log.ts";
import * as indexed from "../../ponder.schema.ts";
import { startLoop } from "../common/loop.ts";
import { createOutboxContext, STATEMENT_MS } from "./context.ts";
import { fanOut } from "./fan-out.ts";
import { processBlocks } from "./process-blocks.ts";
import { createBlockReader } from "./read-block.ts";

/** How often the outbox runs when no notification comes, in ms. */
const POLL_MS = 1000;
/** Longer than a restart of a node, in ms. */
const HOLD_MS = 20_000;

export type OutboxOptions = {
  config: {
    DATABASE_URL: string;
    VIEWS_SCHEMA: string;
    RPC_URL: string;
    WEBHOOK_CONFIRMATIONS: number;
  };
  deployment: Pick<Deployment, "chainId" | "name">;
  /** How long new events wait for the proof of earlier reversals, in ms; 20 s by default. */
  holdMs?: number;
  /** Receives the ids of subscriptions with new deliveries. It is a hint: the deliveries are in the database. */
  onDeliveries: (webhookIds: readonly string[]) => void;
  log: Logger;
};
export type Outbox = {
  /** Waits for the present run. */
  stop(): Promise<void>;
};

/**
 * Starts to store the index's events and their deliveries. Several writers may run it: each event is stored once. It waits
 * while there is no index, and resumes by itself after an outage of database or node.
 */
export function startOutbox(options: OutboxOptions): Outbox {
  const { config, deployment, holdMs = HOLD_MS, onDeliveries, log } = options;
  const { DATABASE_URL: url, VIEWS_SCHEMA: viewsSchema } = config;
  readFrom(indexed, viewsSchema);
  // Tables may grow a thousandfold in a minute: a plan cached while they were small would scan them completely.
  const common = { max: 1, statementTimeout: STATEMENT_MS, freshPlans: true };
  const connection = connect(url, { name: "outbox", ...common });
  const snapshots = connect(url, { name: "outbox-index", ...common });
  const context = createOutboxContext({
    sql: connection.sql,
    snapshots: snapshots.sql,
    readBlock: createBlockReader(deployment, config.RPC_URL),
    viewsSchema,
    chainId: deployment.chainId,
    confirmations: config.WEBHOOK_CONFIRMATIONS,
    holdMs,
    onDeliveries,
    log,
  });
  const loop = startLoop({
    name: "the outbox",
    log,
    pauseMs: () => POLL_MS,
    round: async () => {
      const moreBlocks = await processBlocks(context);
      const moreDeliveries = await fanOut(context);
      if (moreBlocks || moreDeliveries) loop.nudge();
    },
  });
  // A trigger notifies this channel of each new checkpoint (`scripts/indexer/views.ts`). The outbox also polls, because a notification
  // can be lost.
  const listener = listenTo(url, {
    name: "outbox-listener",
    channel: `${viewsSchema}_live_query`,
    onNotification: loop.nudge,
    onStart: loop.nudge,
  });
  return {
    async stop() {
      await Promise.all([loop.stop(), listener.close()]);
      await Promise.all([connection.close(), snapshots.close()]);
    },
  };
}
