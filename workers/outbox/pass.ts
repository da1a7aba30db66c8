import { drizzle } from "drizzle-orm/postgres-js";
import type { Connection } from "../../lib/db/connect.ts";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import type { Logger } from "../../lib/log.ts";
import type { ReadBlock } from "./blocks.ts";
import type { Block, StoredEvent } from "./event.ts";
import { type Expired, expiryEvents, readExpired } from "./expiries.ts";
import { least, planPass, type Room } from "./plan.ts";
import { type Cursor, type Position, readPosition } from "./position.ts";
import { isReplaced, proveVanished, type Verdict } from "./proofs.ts";
import {
  countBurnSubscriptions,
  type NewEvents,
  readBlocksAhead,
  readNewEvents,
  readVanished,
} from "./rows.ts";
import { begin, oldestSubscription, writePass } from "./write.ts";

/** New events in one pass: its transaction, with all their deliveries, should be over soon. */
const MAX_EVENTS = 200;
/** Deliveries of burns that one pass may write; those of other events are few, for a wallet has few subscriptions. */
const MAX_BURN_DELIVERIES = 10_000;
/** How Postgres tells that a statement took too long. */
const QUERY_CANCELED = "57014";

export type PassOptions = {
  sql: Connection["sql"];
  /** For reads of one moment. */
  snapshots: Connection["sql"];
  readBlock: ReadBlock;
  viewsSchema: string;
  chainId: number;
  /** How deep a block must lie to count; 1 is the head. */
  confirmations: number;
  /** So long new events wait for the proof of what has to be taken back before them, in ms; a node may be away for longer. */
  holdMs: number;
  /** Subscriptions that have something to be delivered, by their ids. */
  onDeliveries: (webhookIds: readonly string[]) => void;
  log: Logger;
};

/** What the index and the outbox hold at one moment. */
type Snapshot = Position & {
  readonly cursor: Cursor;
  readonly vanished: readonly StoredEvent[];
  readonly ahead: Awaited<ReturnType<typeof readBlocksAhead>>;
  readonly logs: NewEvents;
  readonly expired: readonly Expired[];
  readonly room: Room;
};

/** What became of a pass: nothing was there to do, it is done, or there is more of it. */
type Outcome = "rested" | "done" | "again";

/**
 * Makes the outbox's passes: what the index holds of blocks that are not final is compared with the events that are stored,
 * what is new is stored with its deliveries, and what is gone is taken back once the chain proves it. Rejects when a
 * database is away; nothing is lost by that.
 *
 * @returns whether there is more to do at once.
 */
export function createPass(options: PassOptions): () => Promise<boolean> {
  const { sql, viewsSchema, chainId, confirmations, holdMs, onDeliveries, log } = options;
  // Ponder names columns in snake_case.
  const db = drizzle(options.snapshots, { casing: "snake_case" });
  /** How far the index was at the last pass that left nothing to wait for. */
  let settled: string | undefined;
  let limit = MAX_EVENTS;
  /** Since when new events wait for reversals, of `performance.now`. */
  let heldSince: number | undefined;

  const stateOf = ({ head, finalized }: Position) => `${head.hash}:${finalized}`;
  const deepEnough = ({ head }: Position) => head.number - BigInt(confirmations - 1);

  /** Undefined when index or outbox have moved on since the position was read. */
  const takeSnapshot = (position: Position, cursor: Cursor) =>
    db.transaction(async (tx): Promise<Snapshot | undefined> => {
      const { head } = position;
      const after = cursor.finalBlock;
      // All are sent at once: they take one round trip.
      const [now, vanished, ahead, logs, expired] = await Promise.all([
        readPosition(tx, viewsSchema, chainId),
        readVanished(tx, chainId, { after, upTo: head.number, time: head.timestamp }),
        readBlocksAhead(tx, chainId, head.number),
        readNewEvents(tx, chainId, { after, upTo: deepEnough(position), limit }),
        readExpired(tx, chainId, { since: cursor.finalTime, time: head.timestamp, limit }),
      ]);
      if (!now || stateOf(now) !== stateOf(position) || now.cursor?.pass !== cursor.pass) return undefined;
      const burns = [...vanished, ...logs.events].some(({ type }) => type === "token_burned")
        ? Math.floor(MAX_BURN_DELIVERIES / ((await countBurnSubscriptions(tx, chainId)) + 1))
        : MAX_EVENTS;
      return { ...position, cursor, vanished, ahead, logs, expired, room: { events: limit, burns } };
    });

  async function firstStart(position: Position, readBlock: ReadBlock): Promise<void> {
    const oldest = await oldestSubscription(sql, chainId);
    const lowest = least(position.finalized, deepEnough(position), ...(oldest === undefined ? [] : [oldest]));
    const block = await readBlock(lowest > 0n ? lowest : 0n);
    if (!block) throw new Error(`the node has no block ${lowest}`);
    await begin(sql, chainId, {
      finalBlock: block.number,
      finalTime: block.timestamp,
      passedBlock: block.number,
    });
    log.info({ block: String(block.number) }, "the outbox begins");
  }

  /** The block that is deep enough; the index knows it when it is the head. */
  const blockAt = async (position: Position, readBlock: ReadBlock): Promise<Block | undefined> =>
    confirmations === 1 ? position.head : readBlock(deepEnough(position)).catch(() => undefined);

  /** The events of what expired by the newest block that is deep enough. */
  async function tellExpired(snapshot: Snapshot, readBlock: ReadBlock) {
    const { expired } = snapshot;
    const more = expired.length === limit;
    if (expired.length === 0) return { events: [], complete: true, more };
    const upTo = await blockAt(snapshot, readBlock);
    if (!upTo) return { events: [], complete: false, more: false };
    const events = await expiryEvents(expired, upTo, readBlock);
    const due = expired.filter(({ expiresAt }) => expiresAt < upTo.timestamp);
    return { events, complete: !more && events.length === due.length, more };
  }

  /** Whether what is new has to wait for reversals that cannot be told yet. */
  async function mustHold(snapshot: Snapshot, verdicts: readonly Verdict[], readBlock: ReadBlock) {
    const open =
      verdicts.some(({ kind }) => kind === "unknown") || (await isReplaced(snapshot.ahead, readBlock));
    if (!open) heldSince = undefined;
    else heldSince ??= performance.now();
    return heldSince !== undefined && performance.now() - heldSince < holdMs;
  }

  async function pass(): Promise<Outcome> {
    const readBlock = once(options.readBlock);
    const position = await readPosition(db, viewsSchema, chainId);
    if (!position || stateOf(position) === settled) return "rested";
    if (!position.cursor) {
      await firstStart(position, readBlock);
      return "again";
    }
    const { cursor } = position;
    const snapshot = await takeSnapshot(position, cursor);
    if (!snapshot) return "again";
    const { finalized, logs } = snapshot;
    const [verdicts, expiries] = await Promise.all([
      proveVanished(snapshot.vanished, readBlock),
      tellExpired(snapshot, readBlock),
    ]);
    const upTo = deepEnough(snapshot);
    const held = await mustHold(snapshot, verdicts, readBlock);
    const plan = planPass({ cursor, finalized, upTo, verdicts, logs, expiries, held, room: snapshot.room });
    const { reverted, events, finalBlock } = plan;
    const moves = finalBlock > cursor.finalBlock;
    // Only by the chain's own time, for the head that the index once had may have been another one's.
    const final = moves && plan.timeIsFinal ? await readBlock(finalBlock).catch(() => undefined) : undefined;
    if (moves || plan.passedBlock > cursor.passedBlock || reverted.length + events.length > 0) {
      const finalTime = final?.timestamp ?? cursor.finalTime;
      const ids = await writePass(sql, chainId, { cursor, plan, finalTime });
      if (!ids) return "again";
      limit = Math.min(2 * limit, MAX_EVENTS);
      if (reverted.length > 0) log.warn({ events: reverted.length }, "the chain took events back");
      if (ids.length > 0) onDeliveries(ids);
    }
    if (plan.again) return "again";
    const waits = heldSince !== undefined || !expiries.complete;
    settled = waits ? undefined : stateOf(snapshot);
    return "done";
  }

  return async () => {
    try {
      return (await pass()) === "again";
    } catch (error) {
      // There are no views yet, or they are being replaced: the next pass finds others.
      if (isNotBuilt(error) || isSwap(error)) return false;
      // Everybody's events, and too many who want them: fewer at once.
      if (isTooSlow(error)) limit = Math.ceil(limit / 4);
      throw error;
    }
  };
}

const isTooSlow = (error: unknown) =>
  error instanceof Error && "code" in error && error.code === QUERY_CANCELED;

/** Asks for each height once, so that all that is said of it in a pass is the same. */
function once(readBlock: ReadBlock): ReadBlock {
  const known = new Map<bigint, ReturnType<ReadBlock>>();
  return (number) => {
    const block = known.get(number) ?? readBlock(number);
    known.set(number, block);
    return block;
  };
}
