import { inSnapshot } from "../../lib/db/snapshot.ts";
import { type OutboxContext, STATEMENT_MS } from "./context.ts";
import { readDuePolicies } from "./due-policies.ts";
import type { StoredEvent } from "./event.ts";
import { type NewEvents, readBlocksAhead, readDoubtfulEvents, readNewEvents } from "./event-queries.ts";
import { type ExpiredPolicy, readExpiredPolicies } from "./expired-policies.ts";
import { withDuePolicies } from "./plan-events.ts";
import { type Cursor, type Progress, readProgress } from "./progress.ts";
import { confirmedHeight, type Window } from "./window.ts";

/** The state of index and outbox at one moment. */
export type Snapshot = Progress & {
  readonly cursor: Cursor;
  /** Stored events that a reorganisation may have reverted. */
  readonly doubtful: readonly StoredEvent[];
  /** Blocks of stored events above the index's head. */
  readonly ahead: Awaited<ReturnType<typeof readBlocksAhead>>;
  /** The new events of logs, due policies included. */
  readonly logs: NewEvents;
  readonly expired: readonly ExpiredPolicy[];
  /** The most new events of the run. */
  readonly limit: number;
};

/** Identifies a state of the index: equal states have equal events. */
export const indexState = ({ build, head, finalized }: Progress) => `${build}:${head.hash}:${finalized}`;

/** Reads a snapshot. Undefined when index or outbox have changed since `progress` was read. */
export const takeSnapshot = (
  context: OutboxContext,
  progress: Progress,
  cursor: Cursor,
  { after, since, continues, blocks }: Window,
) =>
  inSnapshot(
    context.db,
    async (tx): Promise<Snapshot | undefined> => {
      const { viewsSchema, chainId, eventLimit: limit } = context;
      const { build, head } = progress;
      const upTo = confirmedHeight(context, progress);
      const dueUpTo = blocks.get(upTo)?.timestamp ?? head.timestamp;
      const all = !continues && context.dueBuild !== build;
      // One round trip: none of these waits for the answer of another.
      const [now, doubtful, ahead, logs, due, expired] = await Promise.all([
        readProgress(tx, viewsSchema, chainId),
        readDoubtfulEvents(tx, chainId, { after, upTo: head.number, time: head.timestamp }),
        readBlocksAhead(tx, chainId, head.number),
        readNewEvents(tx, chainId, { after, upTo, limit }),
        readDuePolicies(tx, chainId, { all, after, since, upTo, now: dueUpTo, limit: limit + 1 }),
        readExpiredPolicies(tx, chainId, { since, time: head.timestamp, limit }),
      ]);
      const unchanged =
        now && indexState(now) === indexState(progress) && now.cursor?.version === cursor.version;
      if (!unchanged) return undefined;
      const events = withDuePolicies(logs, due, limit);
      return { ...progress, cursor, doubtful, ahead, logs: events, expired, limit };
    },
    `set local statement_timeout = ${STATEMENT_MS}`,
  );
