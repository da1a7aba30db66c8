import { MAX_EVENTS, type OutboxContext } from "./context.ts";
import { readDuePolicies } from "./due-policies.ts";
import type { StoredEvent } from "./event.ts";
import {
  countBurnSubscriptions,
  type NewEvents,
  readBlocksAhead,
  readNewEvents,
  readVanishedEvents,
} from "./event-queries.ts";
import { type ExpiredPolicy, readExpiredPolicies } from "./expired-policies.ts";
import { type EventLimits, withDuePolicies } from "./plan-events.ts";
import { type Cursor, type Progress, readProgress } from "./progress.ts";

/** Deliveries of burns in one run. Other events have few deliveries, because a wallet has few subscriptions. */
const MAX_BURN_DELIVERIES = 10_000;

/** The state of index and outbox at one moment. */
export type Snapshot = Progress & {
  readonly cursor: Cursor;
  /** Stored events that the index does not have. */
  readonly vanished: readonly StoredEvent[];
  /** Blocks of stored events above the index's head. */
  readonly ahead: Awaited<ReturnType<typeof readBlocksAhead>>;
  /** The new events of logs, due policies included. */
  readonly logs: NewEvents;
  readonly expired: readonly ExpiredPolicy[];
  readonly limits: EventLimits;
};

/** Identifies a state of the index: equal states have equal events. */
export const indexState = ({ build, head, finalized }: Progress) => `${build}:${head.hash}:${finalized}`;

/** The height of the newest block with enough confirmations. */
export const confirmedHeight = ({ confirmations }: OutboxContext, { head }: Progress) =>
  head.number - BigInt(confirmations - 1);

/** Reads a snapshot. Undefined when index or outbox have changed since `progress` was read. */
export const takeSnapshot = (context: OutboxContext, progress: Progress, cursor: Cursor) =>
  context.db.transaction(async (tx): Promise<Snapshot | undefined> => {
    const { viewsSchema, chainId, eventLimit: limit } = context;
    const { build, head } = progress;
    const { finalBlock: after, finalTime: since } = cursor;
    const upTo = confirmedHeight(context, progress);
    const all = context.dueBuild !== build;
    // One round trip: none of these waits for the answer of another.
    const [now, vanished, ahead, logs, due, expired] = await Promise.all([
      readProgress(tx, viewsSchema, chainId),
      readVanishedEvents(tx, chainId, { after, upTo: head.number, time: head.timestamp }),
      readBlocksAhead(tx, chainId, head.number),
      readNewEvents(tx, chainId, { after, upTo, limit }),
      readDuePolicies(tx, chainId, { all, after, since, upTo, limit: limit + 1 }),
      readExpiredPolicies(tx, chainId, { since, time: head.timestamp, limit }),
    ]);
    const unchanged =
      now && indexState(now) === indexState(progress) && now.cursor?.version === cursor.version;
    if (!unchanged) return undefined;
    const burns = [...vanished, ...logs.events].some(({ type }) => type === "token_burned")
      ? Math.floor(MAX_BURN_DELIVERIES / ((await countBurnSubscriptions(tx, chainId)) + 1))
      : MAX_EVENTS;
    const events = withDuePolicies(logs, due, limit);
    return { ...progress, cursor, vanished, ahead, logs: events, expired, limits: { events: limit, burns } };
  });
