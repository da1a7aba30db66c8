import { errorText, type Logger } from "../../lib/log.ts";
import type { DeliveryMeter } from "../metrics/webhook-metrics.ts";
import { type Batch, type ClaimedDelivery, LEASE_SECONDS } from "./claim-deliveries.ts";
import type { Slot } from "./concurrency-limit.ts";
import type { DeliveryStore } from "./delivery-store.ts";
import type { BatchEnd, Lane } from "./dispatcher.ts";
import { ANSWER_MS, type CallResult, type ReceiverClient } from "./receiver-client.ts";
import { retryDelay } from "./retry-schedule.ts";
import type { OpenSecrets } from "./secret-cache.ts";
import type { Settlement } from "./settle-deliveries.ts";
import { type SigningSecrets, signRequest } from "./signature.ts";
import type { CountCall } from "./unverified-limits.ts";

/** A batch of one subscription's deliveries: claim the due ones, call the receiver for each in event order, settle. */

/** The latest start of an attempt after the claim, in ms: its answer must come before the lease expires, with 2 s to spare. */
const LAST_START_MS = LEASE_SECONDS * 1000 - ANSWER_MS - 2000;
/**
 * How long the calls of a batch may take, in ms. Then the slot goes to other subscriptions, and after the present call the
 * rest of the batch waits for its next turn. A receiver with a slower call belongs to the slow lane.
 */
const BATCH_MS = 500;
/** The most that a rest is longer, as a part of it, so that those who wait for one host begin in no fixed order. */
const REST_SPREAD = 0.1;

export type DeliveryContext = {
  store: DeliveryStore;
  client: ReceiverClient;
  openSecrets: OpenSecrets;
  countCall: CountCall;
  meter: DeliveryMeter;
  log: Logger;
  /** The subscription's next delivery is due in `ms`. */
  wakeIn: (webhookId: string, ms: number) => void;
  isStopping: () => boolean;
};

/** Delivers a batch of a subscription's due events. Never rejects. */
export async function deliverBatch(
  context: DeliveryContext,
  webhookId: string,
  lane: Lane,
  slot: Slot,
): Promise<BatchEnd> {
  const { store, log, wakeIn } = context;
  const claimedAt = performance.now();
  try {
    const batch = await store.claim(webhookId);
    if (!batch) return { lane, again: false };
    const { nextLane, restMs } = await callAndSettle(context, batch, { claimedAt, lane, slot });
    if (restMs > 0) {
      const ms = restMs * (1 + REST_SPREAD * Math.random());
      await store.leaveLease(webhookId, ms);
      wakeIn(webhookId, ms);
      return { lane: nextLane, again: false };
    }
    const dueIn = await store.release(webhookId);
    if (dueIn === undefined) return { lane: "regular", again: false };
    if (dueIn > 0) wakeIn(webhookId, dueIn);
    return { lane: nextLane, again: dueIn === 0 };
  } catch (error) {
    // The lease expires, and the sweep of some writer finds the rest.
    log.warn({ webhookId, err: errorText(error) }, "a batch of deliveries failed");
    return { lane, again: false };
  }
}

/**
 * Calls the receiver for one delivery after the other within the batch's time, and settles each.
 * @returns the next lane, and for how long a subscription that is not verified rests
 */
async function callAndSettle(
  context: DeliveryContext,
  batch: Batch,
  { claimedAt, lane, slot }: { claimedAt: number; lane: Lane; slot: Slot },
): Promise<{ nextLane: Lane; restMs: number }> {
  const { store, client, countCall, meter, log, isStopping } = context;
  const secrets = await openSecretsOrUnclaim(context, batch);
  const unsent = [...batch.deliveries];
  const settled: Promise<void>[] = [];
  const began = performance.now();
  const timer = setTimeout(slot.releaseEarly, BATCH_MS);
  let nextLane = lane;
  let restMs = 0;
  try {
    while (!isStopping()) {
      const now = performance.now();
      if (now - claimedAt > LAST_START_MS || now - began > BATCH_MS) break;
      const [delivery] = unsent;
      if (!delivery) break;
      restMs = await countCall(batch);
      if (restMs > 0) break;
      unsent.shift();
      const result = await client.post(signRequest(batch.url, delivery, secrets));
      // Aborted by a stop: the delivery stays marked as taken, because it may have arrived.
      if (!result) break;
      const settlement = settlementOf(batch, delivery, result);
      meter.attempted(result.attempt);
      logTrace(log, batch, delivery, result);
      settled.push(store.settle(settlement));
      if (settlement.kind === "exhausted") {
        log.warn({ webhookId: batch.webhookId }, "a subscription is undeliverable");
        break;
      }
      const slow = settlement.kind !== "delivered" || result.attempt.durationMs > BATCH_MS;
      nextLane = slow ? "slow" : "regular";
      // The rest of the batch continues in the new lane.
      if (nextLane !== lane) break;
    }
  } finally {
    clearTimeout(timer);
    await Promise.all([store.unclaim(unsent), ...settled]);
  }
  return { nextLane, restMs };
}

/** Logs an attempt at an event that a traced purchase caused. */
function logTrace(
  log: Logger,
  { webhookId }: Batch,
  { eventId: event, traceparent }: ClaimedDelivery,
  { attempt: { outcome } }: CallResult,
): void {
  if (traceparent === null) return;
  log.info({ webhookId, event, outcome, traceparent }, "tried to deliver an event of a purchase");
}

/** A wrong key is the operator's mistake: it counts as no attempt, and the subscription waits until the lease expires. */
async function openSecretsOrUnclaim(
  { store, openSecrets }: DeliveryContext,
  batch: Batch,
): Promise<SigningSecrets> {
  try {
    return openSecrets(batch);
  } catch (error) {
    await store.unclaim(batch.deliveries);
    await store.leaveLease(batch.webhookId);
    throw error;
  }
}

function settlementOf(
  { webhookId }: Batch,
  delivery: ClaimedDelivery,
  { attempt, retryAfter }: CallResult,
): Settlement {
  const common = { webhookId, deliveryId: delivery.id, takenAt: delivery.takenAt, attempt };
  if (attempt.outcome === "delivered") return { ...common, kind: "delivered" };
  const retryIn = retryDelay(delivery.failures + 1, retryAfter);
  return retryIn === undefined ? { ...common, kind: "exhausted" } : { ...common, kind: "failed", retryIn };
}
