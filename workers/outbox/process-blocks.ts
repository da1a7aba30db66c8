import { sqlState } from "../../lib/db/sql-state.ts";
import { isNotBuilt, isSwap } from "../../lib/indexed/errors.ts";
import { MAX_EVENTS, type OutboxContext } from "./context.ts";
import { expiryEvents } from "./expired-policies.ts";
import { type ExpiryEvents, lowest, planEvents } from "./plan-events.ts";
import { type Progress, readProgress, type Taken } from "./progress.ts";
import { type ReadBlock, readEachBlockOnce } from "./read-block.ts";
import { type BlockVerdict, checkBlocks, isAnyReplaced } from "./reorg-check.ts";
import { indexState, type Snapshot, takeSnapshot } from "./snapshot.ts";
import { insertCursor, oldestSubscription, storeEvents } from "./store-events.ts";
import { confirmedHeight, findWindow, type Window } from "./window.ts";

/** Postgres's error code for a statement timeout. */
const QUERY_CANCELED = "57014";

/**
 * One run of the outbox: compares the index's events of blocks that are not taken yet with the stored events, stores new events
 * with their deliveries, and reverts events once the chain proves that their blocks were replaced. Rejects while a
 * database is down; the next run repeats it.
 *
 * @returns whether the next run should follow at once.
 */
export async function processBlocks(context: OutboxContext): Promise<boolean> {
  try {
    return await compareAndStore(context);
  } catch (error) {
    // The index has no views yet, or a new build replaces them: the next run finds the new ones.
    if (isNotBuilt(error) || isSwap(error)) return false;
    // Events with very many subscriptions took too long to store: try fewer at once.
    if (isTooSlow(error)) context.eventLimit = Math.ceil(context.eventLimit / 4);
    throw error;
  }
}

const isTooSlow = (error: unknown) => sqlState(error) === QUERY_CANCELED;

async function compareAndStore(context: OutboxContext): Promise<boolean> {
  const { sql, chainId, log } = context;
  const readBlock = readEachBlockOnce(context.readBlock);
  const progress = await readProgress(context.db, context.viewsSchema, chainId);
  if (!progress || indexState(progress) === context.settledState) return false;
  const { cursor } = progress;
  if (!cursor) {
    await startAtOldestSubscription(context, progress, readBlock);
    return true;
  }
  const window = await findWindow(context, progress, cursor, readBlock);
  const snapshot = await takeSnapshot(context, progress, cursor, window);
  if (!snapshot) return true;
  const { finalized, logs, limit } = snapshot;
  const [verdicts, expiries] = await Promise.all([
    checkBlocks(snapshot.doubtful, snapshot.head, readBlock),
    findExpiryEvents(context, snapshot, readBlock),
  ]);
  const upTo = confirmedHeight(context, snapshot);
  const held = await mustWaitForReversals(context, snapshot, verdicts, readBlock);
  const plan = planEvents({ cursor, finalized, upTo, verdicts, logs, expiries, held, limit });
  const { reverted, events, finalBlock } = plan;
  const advances = finalBlock > cursor.finalBlock;
  // The time comes from the chain, because the index may have had another block at this height.
  const final = advances && plan.timeIsFinal ? await readBlock(finalBlock).catch(() => undefined) : undefined;
  const taken = nextTaken(plan.takenBlock, window, snapshot);
  const takes = taken?.block.hash !== cursor.taken?.block.hash || taken?.build !== cursor.taken?.build;
  if (
    advances ||
    takes ||
    plan.processedBlock > cursor.processedBlock ||
    reverted.length + events.length > 0
  ) {
    const finalTime = final?.timestamp ?? cursor.finalTime;
    const webhookIds = await storeEvents(sql, chainId, { cursor, plan, finalTime, taken });
    if (!webhookIds) return true;
    context.eventLimit = Math.min(2 * context.eventLimit, MAX_EVENTS);
    if (reverted.length > 0) log.warn({ events: reverted.length }, "a chain reorganisation reverted events");
    if (webhookIds.length > 0) context.onDeliveries(webhookIds);
  }
  if (plan.more) return true;
  if (!held) context.dueBuild = snapshot.build;
  const waits = context.heldSince !== undefined || !expiries.complete;
  context.settledState = waits ? undefined : indexState(snapshot);
  return false;
}

/** Where the next run may continue: at the block up to which this one is complete, or where it continued itself. */
function nextTaken(
  number: bigint | undefined,
  { continues, blocks }: Window,
  { build, cursor }: Snapshot,
): Taken | undefined {
  const block = number === undefined ? undefined : blocks.get(number);
  if (block) return { block, build };
  return continues ? cursor.taken : undefined;
}

/** The first run on a chain: starts at the oldest subscription, or at the newest final or confirmed block if that is lower. */
export async function startAtOldestSubscription(
  context: OutboxContext,
  progress: Progress,
  readBlock: ReadBlock,
): Promise<void> {
  const { sql, chainId, log } = context;
  const oldest = await oldestSubscription(sql, chainId);
  const confirmed = confirmedHeight(context, progress);
  const height = lowest(progress.finalized, confirmed, ...(oldest === undefined ? [] : [oldest]));
  const block = await readBlock(height > 0n ? height : 0n);
  if (!block) throw new Error(`the node has no block ${height}`);
  const { number, timestamp } = block;
  await insertCursor(sql, chainId, { finalBlock: number, finalTime: timestamp, processedBlock: number });
  log.info({ block: String(number) }, "the outbox starts at this block");
}

/** The events of policies that expired by the newest confirmed block. */
export async function findExpiryEvents(
  context: OutboxContext,
  snapshot: Snapshot,
  readBlock: ReadBlock,
): Promise<ExpiryEvents> {
  const { expired, head } = snapshot;
  const more = expired.length === context.eventLimit;
  if (expired.length === 0) return { events: [], complete: true, more };
  // The index has the block when it is the head.
  const upTo =
    context.confirmations === 1
      ? head
      : await readBlock(confirmedHeight(context, snapshot)).catch(() => undefined);
  if (!upTo) return { events: [], complete: false, more: false };
  const events = await expiryEvents(expired, upTo, readBlock);
  const due = expired.filter(({ expiresAt }) => expiresAt < upTo.timestamp);
  return { events, complete: !more && events.length === due.length, more };
}

/** Whether new events must wait for reversals that the chain does not prove yet; they wait `holdMs` at most. */
export async function mustWaitForReversals(
  context: OutboxContext,
  { ahead }: Pick<Snapshot, "ahead">,
  verdicts: readonly BlockVerdict[],
  readBlock: ReadBlock,
): Promise<boolean> {
  const unproven =
    verdicts.some(({ kind, event }) => kind === "unknown" && !event.indexed) ||
    (await isAnyReplaced(ahead, readBlock));
  if (!unproven) context.heldSince = undefined;
  else context.heldSince ??= performance.now();
  return context.heldSince !== undefined && performance.now() - context.heldSince < context.holdMs;
}
