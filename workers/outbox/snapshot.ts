import { MAX_EVENTS, type OutboxContext } from "./context.ts";
import type { StoredEvent } from "./event.ts";
import {
  countBurnSubscriptions,
  type NewEvents,
  readBlocksAhead,
  readNewEvents,
  readVanishedEvents,
} from "./event-queries.ts";
import { type ExpiredPolicy, readExpiredPolicies } from "./expired-policies.ts";
import type { EventLimits } from "./plan-events.ts";
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
  readonly logs: NewEvents;
  readonly expired: readonly ExpiredPolicy[];
  readonly limits: EventLimits;
};

/** Identifies a state of the index: equal states have equal events. */
export const indexState = ({ head, finalized }: Progress) => `${head.hash}:${finalized}`;

/** The height of the newest block with enough confirmations. */
export const confirmedHeight = ({ confirmations }: OutboxContext, { head }: Progress) =>
  head.number - BigInt(confirmations - 1);

/** Reads a snapshot. Undefined when index or outbox have changed since `progress` was read. */
export const takeSnapshot = (context: OutboxContext, progress: Progress, cursor: Cursor) =>
  context.db.transaction(async (tx): Promise<Snapshot | undefined> => {
    const { viewsSchema, chainId, eventLimit: limit } = context;
    const { head } = progress;
    const after = cursor.finalBlock;
    // One round trip: none of these waits for the answer of another.
    const [now, vanished, ahead, logs, expired] = await Promise.all([
      readProgress(tx, viewsSchema, chainId),
      readVanishedEvents(tx, chainId, { after, upTo: head.number, time: head.timestamp }),
      readBlocksAhead(tx, chainId, head.number),
      readNewEvents(tx, chainId, { after, upTo: confirmedHeight(context, progress), limit }),
      readExpiredPolicies(tx, chainId, { since: cursor.finalTime, time: head.timestamp, limit }),
    ]);
    const unchanged =
      now && indexState(now) === indexState(progress) && now.cursor?.version === cursor.version;
    if (!unchanged) return undefined;
    const burns = [...vanished, ...logs.events].some(({ type }) => type === "token_burned")
      ? Math.floor(MAX_BURN_DELIVERIES / ((await countBurnSubscriptions(tx, chainId)) + 1))
      : MAX_EVENTS;
    return { ...progress, cursor, vanished, ahead, logs, expired, limits: { events: limit, burns } };
  });
