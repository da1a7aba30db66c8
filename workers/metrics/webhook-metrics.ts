import type { Sql } from "postgres";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { valueWithin } from "../../lib/timeout.ts";
import { type Attempt, attemptOutcomes } from "../../lib/webhooks/attempt.ts";
import { webhookFigures } from "../../lib/webhooks/figures.ts";
import type { Chain } from "../relayer/chain.ts";

/** Histogram buckets in seconds: from a receiver nearby up to the timeout of an answer. */
const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

/** Counts delivery attempts as they are made. */
export function createDeliveryMeter(registry: Registry) {
  const registers = [registry];
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver an event, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "webhook_attempt_seconds",
    help: "Duration of attempts",
    buckets: BUCKETS,
    registers,
  });
  // Export zeros from the start, because a rate needs a first value.
  const byOutcome = new Map(attemptOutcomes.map((outcome) => [outcome, attempts.labels({ outcome })]));
  for (const counter of byOutcome.values()) counter.inc(0);
  return {
    attempted({ outcome, durationMs }: Attempt): void {
      byOutcome.get(outcome)?.inc();
      seconds.observe(durationMs / 1000);
    },
  };
}

export type DeliveryMeter = ReturnType<typeof createDeliveryMeter>;

/** Gauges that each scrape reads from the database and the chain. A failed source leaves its gauges without samples. */
export function createDeliveryGauges(
  registry: Registry,
  { sql, chain, chainId }: { sql: Sql; chain: Pick<Chain, "client">; chainId: number },
) {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `webhook_${name}`, help, registers: [registry] });
  const pending = gauge("deliveries_pending", "Deliveries that are not delivered yet");
  const oldest = gauge("oldest_due_seconds", "Seconds since the oldest due delivery became due, or 0");
  const undeliverable = gauge("subscriptions_undeliverable", "Subscriptions that are undeliverable");
  const lag = gauge("outbox_lag_blocks", "Blocks between the chain's head and the outbox");

  return async function collect(): Promise<void> {
    for (const each of [pending, oldest, undeliverable, lag]) each.remove();
    const [figures, head] = await Promise.all([
      valueWithin(SOURCE_MS, webhookFigures(sql, chainId)),
      valueWithin(SOURCE_MS, chain.client.getBlockNumber()),
    ]);
    if (!figures) return;
    pending.set(figures.pending);
    oldest.set(figures.oldest ?? 0);
    undeliverable.set(figures.undeliverable);
    if (head !== undefined && figures.processed !== null) {
      lag.set(Math.max(0, Number(head - BigInt(figures.processed))));
    }
  };
}
