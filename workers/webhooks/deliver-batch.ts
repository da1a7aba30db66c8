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

/** A batch of one subscription's deliveries: claim the due ones, call the receiver for each in event order, settle. */

/** The latest start of an attempt after the claim, in ms: its answer must come before the lease expires, with 2 s to spare. */
const LAST_START_MS = LEASE_SECONDS * 1000 - ANSWER_MS - 2000;
/**
 * How long the calls of a batch may take, in ms. Then the slot goes to other subscriptions, and after the present call the
 * rest of the batch waits for its next turn. A receiver with a slower call belongs to the slow lane.
 */
const BATCH_MS = 500;

export type DeliveryContext = {
  store: DeliveryStore;
  client: ReceiverClient;
  openSecrets: OpenSecrets;
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
    const nextLane = await callAndSettle(context, batch, { claimedAt, lane, slot });
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

/** Calls the receiver for one delivery after the other within the batch's time, and settles each. Returns the next lane. */
async function callAndSettle(
  context: DeliveryContext,
  batch: Batch,
  { claimedAt, lane, slot }: { claimedAt: number; lane: Lane; slot: Slot },
): Promise<Lane> {
  const { store, client, meter, log, isStopping } = context;
  const secrets = await openSecretsOrUnclaim(context, batch);
  const unsent = [...batch.deliveries];
  const settled: Promise<void>[] = [];
  const began = performance.now();
  const timer = setTimeout(slot.releaseEarly, BATCH_MS);
  let nextLane = lane;
  while (!isStopping()) {
    const now = performance.now();
    if (now - claimedAt > LAST_START_MS || now - began > BATCH_MS) break;
    const delivery = unsent.shift();
    if (!delivery) break;
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
  clearTimeout(timer);
  await Promise.all([store.unclaim(unsent), ...settled]);
  return nextLane;
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
