/** What the webhooks' endpoints do that takes more than one statement. */
import { setTimeout as sleep } from "node:timers/promises";
import { createAtMost, createAtMostByKey } from "../../lib/at-most.ts";
import { ApiError } from "../../lib/errors.ts";
import { errorText } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import { soon } from "../../lib/within.ts";
import type { Dependencies } from "../dependencies.ts";
import { DEPENDENCY_TIMEOUT_MS, databaseUnavailable, fromDatabase } from "../http/dependency-timeout.ts";
import { createWebhook, type NewWebhook, type Owner, type Webhook } from "./store.ts";
import { createTest, type DeliveryRecord, readDelivery } from "./store-deliveries.ts";
import {
  eventBefore,
  type ReplayHindrance,
  replayDelivery,
  replayRound,
  retryRound,
} from "./store-replays.ts";

/** How long a test waits for its outcome, in ms: an attempt's ten seconds, and some for a busy writer. */
const TEST_WAIT_MS = 15_000;
/** Pauses between two looks at the outcome, in ms: each is longer than the one before. */
const FIRST_POLL_MS = 50;
const LONGEST_POLL_MS = 500;
/** A wake-up that takes longer, in ms, is not waited for: a writer finds the rows without it. */
const WAKE_SOON_MS = 250;
/** Calls that wait for the outbox at once: a pass of many events holds it for seconds, and others need the database too. */
const AT_OUTBOX = 4;
/** What is not done by then is given up, in ms: a little before its client is told so, for a commit takes its time. */
const GIVE_UP_MS = DEPENDENCY_TIMEOUT_MS - 500;

export const webhookNotFound = (webhookId: number) =>
  new ApiError("webhook_not_found", `The wallet has no webhook ${webhookId}.`);
const deliveryNotFound = (webhookId: number, deliveryId: number) =>
  new ApiError("delivery_not_found", `The webhook ${webhookId} has no delivery ${deliveryId}.`);

function hindered(hindrance: ReplayHindrance, webhookId: number, deliveryId = 0): ApiError {
  switch (hindrance) {
    case "webhook_not_found":
      return webhookNotFound(webhookId);
    case "delivery_not_found":
      return deliveryNotFound(webhookId, deliveryId);
    case "is_test":
      return new ApiError(
        "delivery_not_found",
        `The delivery ${deliveryId} was a test, which is not sent again: ask for another one.`,
      );
    case "event_reverted":
      return new ApiError(
        "event_reverted",
        "A reorganisation of the chain took the event back: it is not sent again.",
      );
    case "webhook_undeliverable":
      return new ApiError(
        "webhook_undeliverable",
        `The webhook ${webhookId} is undeliverable: POST /api/v1/webhooks/${webhookId}/retry re-enables it.`,
      );
  }
}

export type WebhookCalls = ReturnType<typeof createWebhookCalls>;

/** Each rejects with the ApiError that the client is told. Another wallet's webhook does not exist. */
export function createWebhookCalls({ connection, log, stopping, webhooks }: Dependencies) {
  const { db } = connection;
  const atOutbox = createAtMost(AT_OUTBOX);
  const ofWallet = createAtMostByKey(1);

  /**
   * Work that takes its turn with the outbox, one of a wallet at a time. It is not done any more once its client is told
   * that it has failed, which `wanted` tells.
   */
  async function withOutbox<T>({ wallet }: Owner, work: (wanted: AbortSignal) => Promise<T>): Promise<T> {
    const late = new AbortController();
    const bell = setTimeout(() => late.abort(databaseUnavailable()), GIVE_UP_MS);
    const inTurn = () =>
      atOutbox(async () => {
        late.signal.throwIfAborted();
        return work(late.signal);
      });
    try {
      return await fromDatabase(() => ofWallet(lower(wallet), inTurn));
    } finally {
      clearTimeout(bell);
      late.abort(databaseUnavailable());
    }
  }

  async function wake(id: string): Promise<void> {
    const waking = webhooks.queue.wake(id).catch((error: unknown) => {
      log.warn({ err: errorText(error), id }, "the writer was not woken for a webhook");
    });
    await soon(WAKE_SOON_MS, waking);
  }

  /** The delivery once it was tried. A database that is away for a moment is asked again. */
  async function tried(
    webhookId: number,
    deliveryId: number,
    gone: AbortSignal,
  ): Promise<DeliveryRecord | undefined> {
    const deadline = performance.now() + TEST_WAIT_MS;
    let pauseMs = FIRST_POLL_MS;
    while (performance.now() < deadline && !stopping.aborted && !gone.aborted) {
      const read = fromDatabase(() => readDelivery(db, webhookId, deliveryId));
      const delivery = await read.catch(() => "unknown" as const);
      if (delivery === undefined) throw webhookNotFound(webhookId);
      if (delivery !== "unknown" && delivery.state !== "delivering") return delivery;
      await sleep(pauseMs);
      pauseMs = Math.min(1.5 * pauseMs, LONGEST_POLL_MS);
    }
    return undefined;
  }

  return {
    /** Undefined when the wallet has as many as it may. */
    create: (owner: Owner, told: NewWebhook): Promise<Webhook | undefined> =>
      withOutbox(owner, (wanted) => createWebhook(db, owner, told, wanted)),

    /** Has a writer send a sample now, and waits for its outcome. */
    async test(owner: Owner, webhookId: number, gone: AbortSignal): Promise<DeliveryRecord> {
      const deliveryId = await fromDatabase(() => createTest(db, owner, webhookId));
      if (deliveryId === undefined) throw webhookNotFound(webhookId);
      await wake(`test-${deliveryId}`);
      const delivery = await tried(webhookId, deliveryId, gone);
      if (delivery) return delivery;
      throw new ApiError(
        "test_pending",
        `No writer has made the call yet: its outcome will stand with delivery ${deliveryId} in GET /api/v1/webhooks/${webhookId}/deliveries.`,
      );
    },

    /** Makes a subscription active, whatever it was. @returns how many deliveries were scheduled */
    async retry(owner: Owner, webhookId: number): Promise<number> {
      for (let scheduled = 0; ; ) {
        const round = await withOutbox(owner, (wanted) => retryRound(db, owner, webhookId, wanted));
        if (!round) throw webhookNotFound(webhookId);
        scheduled += round.scheduled;
        if (!round.done) continue;
        await wake(String(webhookId));
        return scheduled;
      }
    },

    async replayOne(owner: Owner, webhookId: number, deliveryId: number): Promise<DeliveryRecord> {
      const hindrance = await withOutbox(owner, (wanted) =>
        replayDelivery(db, owner, { webhookId, deliveryId }, wanted),
      );
      if (hindrance) throw hindered(hindrance, webhookId, deliveryId);
      await wake(String(webhookId));
      const delivery = await fromDatabase(() => readDelivery(db, webhookId, deliveryId));
      if (!delivery) throw deliveryNotFound(webhookId, deliveryId);
      return delivery;
    },

    /** @returns how many deliveries were scheduled */
    async replaySince(owner: Owner, webhookId: number, since: Date): Promise<number> {
      let after = await fromDatabase(() => eventBefore(db, since));
      for (let scheduled = 0; ; ) {
        const round = await withOutbox(owner, (wanted) =>
          replayRound(db, owner, { webhookId, since, after }, wanted),
        );
        if ("hindrance" in round) throw hindered(round.hindrance, webhookId);
        scheduled += round.scheduled;
        if (round.next !== undefined) {
          after = round.next;
          continue;
        }
        if (scheduled > 0) await wake(String(webhookId));
        return scheduled;
      }
    },
  };
}
