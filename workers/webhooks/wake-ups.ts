import { LRUCache } from "lru-cache";
import type { Sql } from "postgres";
import { errorText, type Logger } from "../../lib/log.ts";
import { findDueSubscriptions, SWEEP_LIMIT, type Writer } from "./claim-deliveries.ts";
import type { Dispatcher } from "./dispatcher.ts";
import { prune } from "./prune.ts";
import { findTestCalls } from "./test-calls.ts";

/** Starts deliveries, test calls and pruning: on a wake-up from the queue, or in a sweep, which finds work with a lost wake-up. */

/** The queue's id of the pruning. */
export const PRUNE = "prune";
/** The pause between two sweeps, in ms. */
export const SWEEP_MS = 1000;
/** Scheduled wake-ups that are remembered. A forgotten one may be scheduled twice, which is harmless. */
const MAX_SCHEDULED = 50_000;

export type WakeContext = {
  readonly writer: Writer;
  readonly sql: Sql;
  /** Without a lock timeout, for pruning. */
  readonly patient: Sql;
  readonly dispatcher: Dispatcher;
  readonly makeTestCall: (deliveryId: string) => Promise<void>;
  readonly isStopping: () => boolean;
  readonly log: Logger;
  /** Test calls that wait or run, by delivery id: each sweep finds the waiting ones again. */
  readonly testCalls: Map<string, Promise<void>>;
  pruning: Promise<void> | undefined;
  /** The last subscription of a sweep that reached its limit: the next sweep continues there. */
  sweptTo: string;
  lastSweepMs: number;
};

/** Handles a wake-up: the id of a subscription, `test-<delivery id>`, or {@link PRUNE}. Does not wait for the work. */
export async function handleWakeUp(context: WakeContext, id: string): Promise<void> {
  if (/^\d+$/.test(id)) context.dispatcher.wake(id);
  else if (/^test-\d+$/.test(id)) startTestCall(context, id.slice("test-".length));
  else if (id === PRUNE) startPruning(context);
}

function startTestCall({ testCalls, makeTestCall, isStopping }: WakeContext, deliveryId: string): void {
  if (isStopping() || testCalls.has(deliveryId)) return;
  const call = makeTestCall(deliveryId).finally(() => testCalls.delete(deliveryId));
  testCalls.set(deliveryId, call);
}

function startPruning(context: WakeContext): void {
  context.pruning ??= pruneAll(context)
    .catch((error: unknown) =>
      context.log.warn({ err: errorText(error) }, "pruning deliveries and events failed"),
    )
    .finally(() => {
      context.pruning = undefined;
    });
}

async function pruneAll({ patient, writer, isStopping, log }: WakeContext): Promise<void> {
  const pruned = await prune(patient, { chainId: writer.chainId, stopping: isStopping });
  if (pruned.deliveries + pruned.events > 0) log.info(pruned, "pruned old deliveries and events");
}

/** Finds due deliveries and pending test calls in the database, and starts them. */
export async function sweep(context: WakeContext): Promise<void> {
  const { sql, writer, dispatcher } = context;
  const began = performance.now();
  const found = await findDueSubscriptions(sql, writer.chainId, context.sweptTo);
  // Continue after a full sweep, so that the first subscriptions do not hide the others while they stay due.
  context.sweptTo = (found.length === SWEEP_LIMIT && found.at(-1)?.webhookId) || "0";
  for (const { webhookId, failing } of found) {
    if (failing) dispatcher.markSlow(webhookId);
    dispatcher.wake(webhookId);
  }
  for (const deliveryId of await findTestCalls(sql, writer)) startTestCall(context, deliveryId);
  context.lastSweepMs = performance.now() - began;
}

/** Schedules wake-ups in the queue: one per subscription, unless an earlier one is needed. */
export function createWakeScheduler(wake: (webhookId: string, ms: number) => Promise<void>) {
  const scheduled = new LRUCache<string, number>({ max: MAX_SCHEDULED });
  return (webhookId: string, ms: number): void => {
    const now = Date.now();
    const known = scheduled.get(webhookId);
    if (known !== undefined && known > now && known <= now + ms + SWEEP_MS) return;
    scheduled.set(webhookId, now + ms);
    // While the queue is down, the sweep finds due deliveries.
    void wake(webhookId, Math.ceil(ms)).catch(() => scheduled.delete(webhookId));
  };
}
