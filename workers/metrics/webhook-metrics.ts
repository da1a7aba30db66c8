import type { Sql } from "postgres";
import type { Registry } from "prom-client";
import { openCounter, openGauge, openHistogram } from "../../lib/metrics/description.ts";
import { webhookMetrics } from "../../lib/metrics/webhook-metrics.ts";
import { valueWithin } from "../../lib/timeout.ts";
import { type Attempt, attemptOutcomes } from "../../lib/webhooks/attempt.ts";
import { webhookFigures } from "../../lib/webhooks/figures.ts";
import type { Chain } from "../relayer/chain.ts";

/** Timeout of a source, in ms. A scrape has a time limit too, so its response omits slower sources. */
const SOURCE_MS = 2000;

/** Counts delivery attempts as they are made. */
export function createDeliveryMeter(registry: Registry) {
  const attempts = openCounter(registry, webhookMetrics.attempts);
  const seconds = openHistogram(registry, webhookMetrics.attemptSeconds);
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
  const pending = openGauge(registry, webhookMetrics.pending);
  const oldest = openGauge(registry, webhookMetrics.oldestDue);
  const undeliverable = openGauge(registry, webhookMetrics.undeliverable);
  const lag = openGauge(registry, webhookMetrics.outboxLag);

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
