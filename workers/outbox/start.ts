import { setDatabaseSchema } from "@ponder/client";
import { connect } from "../../lib/db/connect.ts";
import { listenTo } from "../../lib/db/listen.ts";
import type { Deployment } from "../../lib/deployments.ts";
import type { Logger } from "../../lib/log.ts";
import * as indexed from "../../ponder.schema.ts";
import { startLoop } from "../loop.ts";
import { openBlocks } from "./blocks.ts";
import { createPass } from "./pass.ts";

/** How often the index is looked at when no notification comes, in ms. */
const POLL_MS = 500;
/** As long as a node is restarted, in ms. */
const HOLD_MS = 20_000;
/** An event may be everybody's: with a hundred thousand subscriptions its deliveries take seconds to write, in ms. */
const STATEMENT_TIMEOUT_MS = 60_000;

export type OutboxOptions = {
  config: {
    DATABASE_URL: string;
    VIEWS_SCHEMA: string;
    RPC_URL: string;
    WEBHOOK_CONFIRMATIONS: number;
  };
  deployment: Pick<Deployment, "chainId" | "name">;
  /** How long new events wait for reversals that belong before them, in ms; 20 s when left out. */
  holdMs?: number;
  /** Subscriptions for which deliveries were written, by their ids; a hint, for the deliveries are in the database. */
  onDeliveries: (webhookIds: readonly string[]) => void;
  log: Logger;
};
export type Outbox = {
  /** Finishes the pass at work. */
  stop(): Promise<void>;
};

/**
 * Starts to turn what the index sees on the chain into events and their deliveries. Several writers may: each event is
 * written once. It rests while there is no index, and comes back by itself while database or node are away.
 */
export function startOutbox({
  config,
  deployment,
  holdMs = HOLD_MS,
  onDeliveries,
  log,
}: OutboxOptions): Outbox {
  const { DATABASE_URL: url, VIEWS_SCHEMA: viewsSchema } = config;
  setDatabaseSchema(indexed, viewsSchema);
  const statementTimeout = STATEMENT_TIMEOUT_MS;
  // Tables may grow a thousandfold in a minute: plans that were made while they were small would read them from end to end.
  const common = { max: 1, statementTimeout, freshPlans: true };
  const connection = connect(url, { name: "outbox", ...common });
  const snapshots = connect(url, { name: "outbox-index", ...common, snapshots: true });
  const pass = createPass({
    sql: connection.sql,
    snapshots: snapshots.sql,
    readBlock: openBlocks(deployment, config.RPC_URL),
    viewsSchema,
    chainId: deployment.chainId,
    confirmations: config.WEBHOOK_CONFIRMATIONS,
    holdMs,
    onDeliveries,
    log,
  });
  const passing = startLoop({
    name: "the outbox",
    log,
    pauseMs: () => POLL_MS,
    round: async () => {
      if (await pass()) passing.nudge();
    },
  });
  // Ponder tells of each change of its checkpoint. That is documented nowhere, so it is a hint and no more.
  const listener = listenTo(url, {
    name: "outbox-listener",
    channel: `${viewsSchema}_live_query`,
    onHint: passing.nudge,
    onStart: passing.nudge,
  });
  return {
    async stop() {
      await Promise.all([passing.stop(), listener.close()]);
      await Promise.all([connection.close(), snapshots.close()]);
    },
  };
}
