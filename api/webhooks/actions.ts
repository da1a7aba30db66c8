/** The webhook actions that take more than one statement. */
import { setTimeout as sleep } from "node:timers/promises";
import pLimit, { type LimitFunction } from "p-limit";
import type { Connection } from "../../lib/db/connect.ts";
import { ApiError } from "../../lib/errors.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { valueWithin } from "../../lib/timeout.ts";
import { DEPENDENCY_TIMEOUT_MS, databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import type { Limiter } from "../http/limits/limiter.ts";
import { createLimitByKey } from "./limit-by-key.ts";
import { createWebhook, type NewWebhook, type Owner, readWebhook, type Webhook } from "./store.ts";
import { createTest, type DeliveryRecord, readDelivery } from "./store-deliveries.ts";
import { eventBefore, type ReplayRefusal, replayDelivery, replayRound, retryRound } from "./store-replays.ts";

/** Longest wait for a test's outcome, in ms: the ten seconds of an attempt, and some for a busy writer. */
const TEST_WAIT_MS = 15_000;
/** Pauses between two reads of the outcome, in ms; each is longer than the one before. */
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 500;
/** Longest wait for a wake-up of the writer, in ms; without it the writer finds the rows by itself. */
const WAKE_SOON_MS = 250;
/** Concurrent calls that wait for the outbox's lock: a large run holds it for seconds, and others need connections too. */
const MAX_OUTBOX_CALLS = 4;
/** Timeout of the work under the outbox's lock, in ms: a little before the client gets its 503, for the commit. */
const OUTBOX_TIMEOUT_MS = DEPENDENCY_TIMEOUT_MS - 500;

export const webhookNotFound = (webhookId: number) =>
  new ApiError("webhook_not_found", `The wallet has no webhook ${webhookId}.`);
const deliveryNotFound = (webhookId: number, deliveryId: number) =>
  new ApiError("delivery_not_found", `The webhook ${webhookId} has no delivery ${deliveryId}.`);

function refusalError(refusal: ReplayRefusal, webhookId: number, deliveryId = 0): ApiError {
  switch (refusal) {
    case "webhook_not_found":
      return webhookNotFound(webhookId);
    case "delivery_not_found":
      return deliveryNotFound(webhookId, deliveryId);
    case "is_test":
      return new ApiError(
        "delivery_not_found",
        `The delivery ${deliveryId} was a test, which cannot be sent again: send another test.`,
      );
    case "event_reverted":
      return new ApiError(
        "event_reverted",
        "A reorganisation removed the event from the chain: it is not sent again.",
      );
    case "webhook_undeliverable":
      return new ApiError(
        "webhook_undeliverable",
        `The webhook ${webhookId} is undeliverable: POST /api/v1/webhooks/${webhookId}/retry re-enables it.`,
      );
  }
}

export type WebhookActionParts = {
  readonly connection: Connection;
  /** Wakes the writer for a webhook or a test. */
  readonly wake: (id: string) => Promise<void>;
  /** A wallet's replays to webhooks that are not verified. */
  readonly replays: Limiter;
  /** Aborted when the process stops. */
  readonly stopping: AbortSignal;
  readonly log: Logger;
};

/** The parts, and the limits of concurrent calls: in all, and one per wallet. */
export type WebhookActions = WebhookActionParts & {
  readonly outboxCalls: LimitFunction;
  readonly callsOfWallet: ReturnType<typeof createLimitByKey>;
};

export const createWebhookActions = (parts: WebhookActionParts): WebhookActions => ({
  ...parts,
  outboxCalls: pLimit(MAX_OUTBOX_CALLS),
  callsOfWallet: createLimitByKey(1),
});

/**
 * Runs work that takes the outbox's lock. `wanted` aborts the work before the client gets a 503, so that nothing is done
 * after the client has received an error.
 */
async function withOutbox<T>(
  actions: WebhookActions,
  { wallet }: Owner,
  work: (wanted: AbortSignal) => Promise<T>,
): Promise<T> {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(databaseUnavailable()), OUTBOX_TIMEOUT_MS);
  const run = () =>
    actions.outboxCalls(async () => {
      late.signal.throwIfAborted();
      return work(late.signal);
    });
  try {
    return await fromDatabase(() => actions.callsOfWallet(lower(wallet), run));
  } finally {
    clearTimeout(timer);
    late.abort(databaseUnavailable());
  }
}

async function wakeWriter({ wake, log }: WebhookActions, id: string): Promise<void> {
  const waking = wake(id).catch((error: unknown) => {
    log.warn({ err: errorText(error), id }, "could not wake the writer for a webhook");
  });
  await valueWithin(WAKE_SOON_MS, waking);
}

/** The delivery after its attempt; undefined when the wait ends before. Repeats reads that fail. */
async function waitForAttempt(
  { connection, stopping }: WebhookActions,
  webhookId: number,
  deliveryId: number,
  gone: AbortSignal,
): Promise<DeliveryRecord | undefined> {
  const deadline = performance.now() + TEST_WAIT_MS;
  let pauseMs = FIRST_POLL_MS;
  while (performance.now() < deadline && !stopping.aborted && !gone.aborted) {
    const read = fromDatabase(() => readDelivery(connection.sql, webhookId, deliveryId));
    const delivery = await read.catch(() => "unknown" as const);
    if (delivery === undefined) throw webhookNotFound(webhookId);
    if (delivery !== "unknown" && delivery.state !== "delivering") return delivery;
    await sleep(pauseMs);
    pauseMs = Math.min(1.5 * pauseMs, LONGEST_POLL_MS);
  }
  return undefined;
}

/** Creates a webhook, and has its challenge sent; undefined when the wallet has reached its limit. */
export async function addWebhook(
  actions: WebhookActions,
  owner: Owner,
  wanted: NewWebhook,
): Promise<Webhook | undefined> {
  const made = await withOutbox(actions, owner, (signal) =>
    createWebhook(actions.connection.sql, owner, wanted, signal),
  );
  if (made) await wakeWriter(actions, `test-${made.challenge}`);
  return made?.webhook;
}

/** Sends a test event and waits for its outcome. @throws ApiError `webhook_not_found`, `test_pending` */
export async function sendTest(
  actions: WebhookActions,
  owner: Owner,
  webhookId: number,
  gone: AbortSignal,
): Promise<DeliveryRecord> {
  const deliveryId = await fromDatabase(() => createTest(actions.connection.sql, owner, webhookId));
  if (deliveryId === undefined) throw webhookNotFound(webhookId);
  await wakeWriter(actions, `test-${deliveryId}`);
  const delivery = await waitForAttempt(actions, webhookId, deliveryId, gone);
  if (delivery) return delivery;
  throw new ApiError(
    "test_pending",
    `No writer has made the call yet: its outcome will appear as delivery ${deliveryId} in GET /api/v1/webhooks/${webhookId}/deliveries.`,
  );
}

/** Re-enables a webhook. @returns how many deliveries were scheduled @throws ApiError `webhook_not_found` */
export async function reenable(actions: WebhookActions, owner: Owner, webhookId: number): Promise<number> {
  const { sql } = actions.connection;
  for (let scheduled = 0; ; ) {
    const round = await withOutbox(actions, owner, (wanted) => retryRound(sql, owner, webhookId, wanted));
    if (!round) throw webhookNotFound(webhookId);
    scheduled += round.scheduled;
    if (!round.done) continue;
    await wakeWriter(actions, String(webhookId));
    return scheduled;
  }
}

/**
 * Counts a replay to a webhook that is not verified, before it begins: many at once must not pass together.
 * @throws ApiError `webhook_not_found`, `rate_limit`
 */
async function countReplay(
  { connection, replays }: WebhookActions,
  owner: Owner,
  webhookId: number,
): Promise<void> {
  const webhook = await fromDatabase(() => readWebhook(connection.sql, owner, webhookId));
  if (!webhook) throw webhookNotFound(webhookId);
  if (webhook.verified || webhook.state === "undeliverable") return;
  const { exceeded, limit, resetSeconds } = await replays.consume(lower(owner.wallet));
  if (!exceeded) return;
  throw new ApiError(
    "rate_limit",
    `At most ${limit} replays a day to webhooks of a wallet that are not verified: echo the challenge of POST /api/v1/webhooks/${webhookId}/test.`,
    { retryAfter: resetSeconds },
  );
}

/** Sends one delivery's event again. @throws ApiError why it cannot be sent */
export async function replayOne(
  actions: WebhookActions,
  owner: Owner,
  webhookId: number,
  deliveryId: number,
): Promise<DeliveryRecord> {
  const { sql } = actions.connection;
  await countReplay(actions, owner, webhookId);
  const refusal = await withOutbox(actions, owner, (wanted) =>
    replayDelivery(sql, owner, { webhookId, deliveryId }, wanted),
  );
  if (refusal) throw refusalError(refusal, webhookId, deliveryId);
  await wakeWriter(actions, String(webhookId));
  const delivery = await fromDatabase(() => readDelivery(sql, webhookId, deliveryId));
  if (!delivery) throw deliveryNotFound(webhookId, deliveryId);
  return delivery;
}

/** Sends all events since a time again. @returns how many deliveries were scheduled @throws ApiError why it cannot */
export async function replaySince(
  actions: WebhookActions,
  owner: Owner,
  webhookId: number,
  since: Date,
): Promise<number> {
  const { sql } = actions.connection;
  await countReplay(actions, owner, webhookId);
  let after = await fromDatabase(() => eventBefore(sql, since));
  for (let scheduled = 0; ; ) {
    const round = await withOutbox(actions, owner, (wanted) =>
      replayRound(sql, owner, { webhookId, since, after }, wanted),
    );
    if ("refusal" in round) throw refusalError(round.refusal, webhookId);
    scheduled += round.scheduled;
    if (round.next !== undefined) {
      after = round.next;
      continue;
    }
    if (scheduled > 0) await wakeWriter(actions, String(webhookId));
    return scheduled;
  }
}
