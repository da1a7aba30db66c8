import { drizzle, type PostgresJsDatabase } from "drizzle-orm/postgres-js";
import type { Connection } from "../../lib/db/connect.ts";
import type { Logger } from "../../lib/log.ts";
import type { ReadBlock } from "./read-block.ts";

/**
 * New events in one run: few enough for a short transaction, which writes their deliveries too, and enough for a busy block
 * not to be read again many times.
 */
export const MAX_EVENTS = 500;

/** Longest statement of the outbox's transactions, in ms: a busy block may have very many events. */
export const STATEMENT_MS = 60_000;

export type OutboxSettings = {
  sql: Connection["sql"];
  /** For reads of the index. */
  snapshots: Connection["sql"];
  readBlock: ReadBlock;
  viewsSchema: string;
  chainId: number;
  /** Confirmations before an event is sent; 1 sends the events of the head. */
  confirmations: number;
  /** How long new events wait for the proof of earlier reversals, in ms. A node may be down for longer. */
  holdMs: number;
  /** Receives the ids of subscriptions with new deliveries. */
  onDeliveries: (webhookIds: readonly string[]) => void;
  log: Logger;
};

/** The outbox's settings, and its state between two runs. */
export type OutboxContext = OutboxSettings & {
  readonly db: PostgresJsDatabase;
  /** The index's state at the last run that left nothing to wait for: such a state needs no second run. */
  settledState: string | undefined;
  /** The build of the index in which all open policies were checked for those that are due. */
  dueBuild: string | undefined;
  /** The present limit of new events in one run; a statement timeout lowers it. */
  eventLimit: number;
  /** Since when new events wait for reversals, by `performance.now`. */
  heldSince: number | undefined;
};

export const createOutboxContext = (settings: OutboxSettings): OutboxContext => ({
  ...settings,
  // Ponder names columns in snake_case.
  db: drizzle(settings.snapshots, { casing: "snake_case" }),
  settledState: undefined,
  dueBuild: undefined,
  eventLimit: MAX_EVENTS,
  heldSince: undefined,
});
