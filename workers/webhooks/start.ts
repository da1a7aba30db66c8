import { randomUUID } from "node:crypto";
import type { WriterConfig } from "../../lib/config.ts";
import { errorText, type Logger } from "../../lib/log.ts";
import { openWebhookQueue, startWebhookWorker } from "../../lib/queues.ts";
import type { AllowedHost } from "../../lib/webhooks/allowed-hosts.ts";
import { createTargetGuard, type Resolve } from "../../lib/webhooks/guard.ts";
import { createSealer } from "../../lib/webhooks/secrets.ts";
import { soon } from "../../lib/within.ts";
import { startLoop } from "../loop.ts";
import type { DeliveryMeter } from "../metrics/deliveries.ts";
import { queueOptionsOf } from "../queue-options.ts";
import { createBooks } from "./books.ts";
import { findDue, SWEEP_LIMIT } from "./claim.ts";
import { createDispatcher, HOST_CALLS } from "./dispatcher.ts";
import { createHosts } from "./hosts.ts";
import { openPools } from "./pools.ts";
import { ANSWER_MS, createPoster } from "./post.ts";
import { prune } from "./prune.ts";
import { createTester, findTests, TEST_CALLS } from "./tests.ts";
import { createSecrets, createTurns } from "./turn.ts";

/** Deliveries that are due and that no wake-up led to are found after so long, in ms. */
const SWEEP_MS = 1000;
/** A sweep takes this part of the time at most, however much there is to find. */
const SWEEP_SHARE = 0.1;
/** The chore of the queue, and how often it is done, in ms; whether it is still scheduled is looked at more often. */
const PRUNE = "prune";
const PRUNE_MS = 3_600_000;
const SCHEDULE_MS = 60_000;
/** Subscriptions that wait here for their turn because of new events; the sweeper finds the others when these are done. */
const MAX_WAITING = 20_000;
/** So many wake-ups that are to come later are noted before those that have come are forgotten. */
const CLEAN_LATER = 5000;
/** Jobs at once: each only notes what it was woken for. */
const JOBS = 50;
/** What is under way at a stop has so long to end, in ms; then it is given up, and so is the writing down. */
const STOP_MS = 5000;
const HURRY_MS = 1500;

export type DeliveryOptions = {
  config: Pick<WriterConfig, "DATABASE_URL" | "REDIS_URL" | "SECRETS_KEY" | "WEBHOOK_CONCURRENCY">;
  chainId: number;
  /** Where webhooks may lead beside public addresses. */
  allow: readonly AllowedHost[];
  meter: DeliveryMeter;
  log: Logger;
  /** Replaced in tests. */
  resolve?: Resolve;
  answerMs?: number;
};

export type Delivery = {
  /** These subscriptions have deliveries due. */
  wake(webhookIds: readonly string[]): void;
  /** Leaves within seven seconds. What is given up counts as no failure; whoever goes on sends it once more. */
  stop(): Promise<void>;
};

/** Starts to send events to subscribers. Rejects when the queue's server is away. */
export async function startDelivery(options: DeliveryOptions): Promise<Delivery> {
  const { config, chainId, allow, meter, log, resolve, answerMs = ANSWER_MS } = options;
  const { DATABASE_URL: url, WEBHOOK_CONCURRENCY: concurrency } = config;
  const queueOptions = queueOptionsOf(config, log, "the webhooks' queue");
  const worker = await startWebhookWorker({ ...queueOptions, concurrency: JOBS, handle });
  const queue = openWebhookQueue(queueOptions);
  const pools = openPools(url);
  const { sql, notes, patient } = pools;
  const writer = { chainId, token: randomUUID() };
  let stopping = false;

  const guard = createTargetGuard({ allow, ...(resolve ? { resolve } : {}) });
  // One for each call that can be under way: none waits for another's connection while its time for an answer runs.
  const poster = createPoster({ guard, connections: HOST_CALLS + TEST_CALLS, answerMs });
  const secretsOf = createSecrets(createSealer(config.SECRETS_KEY));
  const books = createBooks({ sql, notes, patient, writer, log });

  const later = createLater((webhookId, ms) => queue.wake(webhookId, ms));
  const turn = createTurns({
    books,
    poster,
    secretsOf,
    meter,
    log,
    later,
    stopping: () => stopping,
  });
  const dispatcher = createDispatcher({
    concurrency,
    hostOf: createHosts(sql),
    turn,
    onError: (error) => log.warn({ error: errorText(error) }, "receivers could not be looked up"),
  });
  const test = createTester({ sql, writer, poster, secretsOf, meter, log });
  /** Test calls that wait or are under way: the sweeper finds those that wait again and again. */
  const testing = new Map<string, Promise<void>>();
  function startTest(deliveryId: string): void {
    if (stopping || testing.has(deliveryId)) return;
    const running = test(deliveryId).finally(() => testing.delete(deliveryId));
    testing.set(deliveryId, running);
  }

  let pruning: Promise<void> | undefined;
  async function pruneAll(): Promise<void> {
    const pruned = await prune(patient, { chainId, stopping: () => stopping });
    if (pruned.deliveries + pruned.events > 0) log.info(pruned, "old deliveries and events are forgotten");
  }

  async function handle(id: string): Promise<void> {
    if (/^\d+$/.test(id)) dispatcher.wake(id);
    else if (/^test-\d+$/.test(id)) startTest(id.slice("test-".length));
    else if (id === PRUNE) {
      pruning ??= pruneAll()
        .catch((error: unknown) =>
          log.warn({ error: errorText(error) }, "old deliveries could not be forgotten"),
        )
        .finally(() => {
          pruning = undefined;
        });
    }
  }

  let lastSweepMs = 0;
  let sweptTo = "0";
  async function sweep(): Promise<void> {
    const began = performance.now();
    const found = await findDue(sql, chainId, sweptTo);
    // The next sweep goes on where this one was full, so that none is left out behind many that stay due.
    sweptTo = (found.length === SWEEP_LIMIT && found.at(-1)?.webhookId) || "0";
    for (const { webhookId, failing } of found) {
      if (failing) dispatcher.lags(webhookId);
      dispatcher.wake(webhookId);
    }
    for (const deliveryId of await findTests(sql, writer)) startTest(deliveryId);
    lastSweepMs = performance.now() - began;
  }

  const pauseMs = () => Math.max(SWEEP_MS, lastSweepMs / SWEEP_SHARE);
  // It goes first, for it tells who lags.
  const sweeping = startLoop({ name: "looking for due deliveries", log, pauseMs, round: sweep });
  const scheduling = startLoop({
    name: "scheduling the webhooks' chores",
    log,
    pauseMs: () => SCHEDULE_MS,
    round: () => queue.ensureEvery(PRUNE, PRUNE_MS),
  });
  worker.resume();

  return {
    wake(webhookIds) {
      // Without the queue, which under load would cost more than the calls. Other writers' sweepers find what waits here.
      for (const webhookId of webhookIds) {
        if (dispatcher.size < MAX_WAITING) dispatcher.wake(webhookId);
      }
    },
    async stop() {
      stopping = true;
      const loops = Promise.all([worker.close(), sweeping.stop(), scheduling.stop()]);
      const ended = Promise.all([dispatcher.stop(), ...testing.values(), pruning]);
      await soon(
        STOP_MS,
        ended.then(() => true),
      );
      books.hurry();
      poster.stop();
      await soon(HURRY_MS, Promise.all([ended, loops]));
      await Promise.all([poster.close(), queue.close(), pools.close()]);
    },
  };
}

/** Hands wake-ups that are to come later to the queue, once for each subscription unless a sooner one is wanted. */
function createLater(wake: (webhookId: string, ms: number) => Promise<void>) {
  const due = new Map<string, number>();
  let cleanAt = CLEAN_LATER;
  return (webhookId: string, ms: number): void => {
    const now = Date.now();
    const known = due.get(webhookId);
    if (known !== undefined && known > now && known <= now + ms + SWEEP_MS) return;
    if (due.size >= cleanAt) {
      for (const [id, at] of due) if (at <= now) due.delete(id);
      cleanAt = Math.max(CLEAN_LATER, 2 * due.size);
    }
    due.set(webhookId, now + ms);
    // A queue that is away is made up for by the sweeper.
    void wake(webhookId, Math.ceil(ms)).catch(() => due.delete(webhookId));
  };
}
