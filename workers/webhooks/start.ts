import { randomUUID } from "node:crypto";
import type { WriterConfig } from "../../lib/config.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { openWebhookQueue, type WebhookQueue } from "../../lib/queues/queue.ts";
import { type QueueWorker, startWebhookWorker } from "../../lib/queues/worker.ts";
import { valueWithin } from "../../lib/timeout.ts";
import type { AllowedHost } from "../../lib/webhooks/allowed-hosts.ts";
import { createSealer } from "../../lib/webhooks/secrets.ts";
import { createTargetGuard, type Resolve } from "../../lib/webhooks/target-guard.ts";
import { type Loop, startLoop } from "../common/loop.ts";
import { queueOptionsOf } from "../common/queue-options.ts";
import type { DeliveryMeter } from "../metrics/webhook-metrics.ts";
import { openDatabasePools } from "./database-pools.ts";
import { deliverBatch } from "./deliver-batch.ts";
import { createDeliveryStore } from "./delivery-store.ts";
import { CALLS_PER_HOST, createDispatcher } from "./dispatcher.ts";
import { ANSWER_MS, createReceiverClient } from "./receiver-client.ts";
import { createHostLookup } from "./receiver-hosts.ts";
import { resealSecrets } from "./reseal-secrets.ts";
import { createSecretCache } from "./secret-cache.ts";
import { createTestCallLimit, MAX_TEST_CALLS, makeTestCall } from "./test-calls.ts";
import { createCallCount, type UnverifiedLimits } from "./unverified-limits.ts";
import { createWakeScheduler, handleWakeUp, PRUNE, SWEEP_MS, sweep, type WakeContext } from "./wake-ups.ts";

/** The largest part of the time that sweeps may take. */
const SWEEP_SHARE = 0.1;
/** How often old rows are pruned, and how often its schedule is checked, in ms. */
const PRUNE_MS = 3_600_000;
const SCHEDULE_MS = 60_000;
/** How often secrets are looked for that `SECRETS_KEY_PREVIOUS` sealed, in ms. */
const RESEAL_MS = 60_000;
/** Subscriptions that new events may add to the dispatcher; the sweep finds the others later. */
const MAX_WAITING = 20_000;
/** Concurrent jobs; a job only passes its wake-ups on. */
const JOBS = 50;
/** How long a stop waits for running work, in ms, and then for outcomes to be stored after aborting the work. */
const STOP_MS = 5000;
const ABORT_MS = 1500;

export type DeliveryOptions = {
  config: Pick<
    WriterConfig,
    "DATABASE_URL" | "REDIS_URL" | "SECRETS_KEY" | "SECRETS_KEY_PREVIOUS" | "WEBHOOK_CONCURRENCY"
  >;
  chainId: number;
  /** Hosts that webhooks may call beside public addresses. */
  allow: readonly AllowedHost[];
  meter: DeliveryMeter;
  log: Logger;
  /** Undefined: calls to receivers that have not echoed a challenge are not limited. */
  unverifiedLimits?: UnverifiedLimits | undefined;
  /** Replaced in tests. */
  resolve?: Resolve;
  answerMs?: number;
};

export type Delivery = {
  /** Starts the deliveries of these subscriptions. */
  wake(webhookIds: readonly string[]): void;
  /** Takes seven seconds at most. Aborted attempts do not count as failures; another writer repeats them. */
  stop(): Promise<void>;
};

/** Starts to deliver events to subscribers. Rejects while the queue's server is down. */
export async function startDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { config, log } = options;
  const queueOptions = queueOptionsOf(config, log, "the webhooks' queue");
  const handle = (id: string) => handleWakeUp(parts.wakeContext, id);
  const worker = await startWebhookWorker({ ...queueOptions, concurrency: JOBS, handle });
  const queue = openWebhookQueue(queueOptions);
  const parts = createParts(options, queue);
  const { wakeContext } = parts;
  const { dispatcher } = wakeContext;

  // The first sweep starts before the first wake-up, because it marks the slow subscriptions.
  const sweeping = startLoop({
    name: "looking for due deliveries",
    log,
    pauseMs: () => Math.max(SWEEP_MS, wakeContext.lastSweepMs / SWEEP_SHARE),
    round: () => sweep(wakeContext),
  });
  const scheduling = startLoop({
    name: "scheduling the pruning",
    log,
    pauseMs: () => SCHEDULE_MS,
    round: () => queue.ensureEvery(PRUNE, PRUNE_MS),
  });
  const resealing = config.SECRETS_KEY_PREVIOUS === undefined ? [] : [startResealing(parts, log)];
  worker.resume();

  return {
    wake(webhookIds) {
      // Without the queue, which would cost more than the calls. The sweeps of other writers find what waits here.
      for (const webhookId of webhookIds) {
        if (dispatcher.size < MAX_WAITING) dispatcher.wake(webhookId);
      }
    },
    stop: () =>
      stopDelivery(parts, queue, [
        worker.close,
        ...[sweeping, scheduling, ...resealing].map((loop) => loop.stop),
      ]),
  };
}

type Parts = ReturnType<typeof createParts>;

function createParts(options: DeliveryOptions, queue: WebhookQueue) {
  const { config, chainId, allow, meter, log, unverifiedLimits, resolve, answerMs = ANSWER_MS } = options;
  const pools = openDatabasePools(config.DATABASE_URL);
  const { sql, patient } = pools;
  const writer = { chainId, token: randomUUID() };
  const state = { stopping: false };
  const isStopping = () => state.stopping;

  const guard = createTargetGuard({ allow, ...(resolve ? { resolve } : {}) });
  // A connection for each concurrent call: a call's time limit must not run while it waits for a connection.
  const client = createReceiverClient(guard, CALLS_PER_HOST + MAX_TEST_CALLS, { answerMs });
  const sealer = createSealer(config.SECRETS_KEY, config.SECRETS_KEY_PREVIOUS);
  const openSecrets = createSecretCache(sealer);
  const store = createDeliveryStore(pools, writer, log);
  const wakeIn = createWakeScheduler((webhookId, ms) => queue.wake(webhookId, ms));
  const countCall = createCallCount(sql, "deliveries", unverifiedLimits);
  const deliveryContext = { store, client, openSecrets, countCall, meter, log, wakeIn, isStopping };
  const dispatcher = createDispatcher({
    concurrency: config.WEBHOOK_CONCURRENCY,
    hostOf: createHostLookup(sql),
    deliver: (webhookId, lane, slot) => deliverBatch(deliveryContext, webhookId, lane, slot),
    onError: (error) => log.warn({ err: errorText(error) }, "the receivers' hosts could not be read"),
  });
  const limit = createTestCallLimit();
  const countTest = createCallCount(sql, "tests", unverifiedLimits);
  const testCallContext = { sql, writer, client, openSecrets, countCall: countTest, meter, log, limit };
  const wakeContext: WakeContext = {
    ...{ writer, sql, patient, dispatcher, isStopping, log },
    makeTestCall: (deliveryId) => makeTestCall(testCallContext, deliveryId),
    testCalls: new Map(),
    pruning: undefined,
    sweptTo: "0",
    lastSweepMs: 0,
  };
  return { pools, sealer, state, client, store, wakeContext };
}

/** Seals anew what `SECRETS_KEY_PREVIOUS` sealed, until the operator removes that key. */
function startResealing({ pools, sealer }: Parts, log: Logger): Loop {
  let said: string | undefined;
  return startLoop({
    name: "sealing the webhooks' secrets with SECRETS_KEY",
    log,
    pauseMs: () => RESEAL_MS,
    async round() {
      const { resealed, unopenable } = await resealSecrets(pools.sql, sealer);
      const news =
        unopenable > 0
          ? "neither SECRETS_KEY nor SECRETS_KEY_PREVIOUS opens the secrets of some webhooks"
          : "SECRETS_KEY opens the secrets of all webhooks: SECRETS_KEY_PREVIOUS can be removed";
      if (resealed > 0 || news !== said)
        log[unopenable > 0 ? "error" : "info"]({ resealed, unopenable }, news);
      said = news;
    },
  });
}

async function stopDelivery(
  { pools, state, client, store, wakeContext }: Parts,
  queue: WebhookQueue,
  stopLoops: readonly QueueWorker["close"][],
): Promise<void> {
  const { dispatcher, testCalls, pruning } = wakeContext;
  state.stopping = true;
  const loops = Promise.all(stopLoops.map((stop) => stop()));
  const ended = Promise.all([dispatcher.stop(), ...testCalls.values(), pruning]);
  await valueWithin(
    STOP_MS,
    ended.then(() => true),
  );
  store.stopRetrying();
  client.abort();
  await valueWithin(ABORT_MS, Promise.all([ended, loops]));
  await Promise.all([client.close(), queue.close(), pools.close()]);
}
