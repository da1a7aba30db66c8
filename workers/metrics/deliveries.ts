import type { Sql } from "postgres";
import { Counter, Gauge, Histogram, type Registry } from "prom-client";
import { type Attempt, attemptOutcomes } from "../../lib/webhooks/attempt.ts";
import { soon } from "../../lib/within.ts";
import type { Chain } from "../relayer/chain.ts";

/** Seconds: from a receiver next door up to the time that an answer may take. */
const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];
/** A source that takes longer is left out of the answer, in ms: whoever scrapes has a time limit too. */
const SOURCE_MS = 2000;

/** What the deliveries tell of their work as they go along. */
export function createDeliveryMeter(registry: Registry) {
  const registers = [registry];
  const attempts = new Counter({
    name: "webhook_attempts_total",
    help: "Attempts to deliver an event to a subscription, by outcome",
    labelNames: ["outcome"],
    registers,
  });
  const seconds = new Histogram({
    name: "webhook_attempt_seconds",
    help: "Seconds that receivers took for an attempt",
    buckets: BUCKETS,
    registers,
  });
  // Counters that are there from the start: a rate needs a zero to rise from.
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

type Figures = { pending: number; oldest: number | null; undeliverable: number; passed: string | null };

const readFigures = async (sql: Sql, chainId: number): Promise<Figures | undefined> => {
  const [row] = await sql<Figures[]>`
    select
      (select count(*)::int from service.delivery where state = 'pending'
        and webhook_id not in (select id from service.webhook where state = 'deleted')) as pending,
      (select extract(epoch from now() - min(d.next_attempt_at))::float8
        from service.delivery d join service.webhook w on w.id = d.webhook_id
        where d.state = 'pending' and d.next_attempt_at <= now() and w.state = 'active') as oldest,
      (select count(*)::int from service.webhook where chain_id = ${chainId} and state = 'undeliverable') as undeliverable,
      (select passed_block::text from service.outbox where chain_id = ${chainId}) as passed`;
  return row;
};

/** Gauges that are read from the tables and the chain when somebody asks; what cannot be read is left out. */
export function createDeliveryGauges(
  registry: Registry,
  { sql, chain, chainId }: { sql: Sql; chain: Pick<Chain, "client">; chainId: number },
) {
  const gauge = (name: string, help: string) =>
    new Gauge({ name: `webhook_${name}`, help, registers: [registry] });
  const pending = gauge("deliveries_pending", "Deliveries that have not arrived and are still tried");
  const oldest = gauge("oldest_due_seconds", "How long the oldest delivery has been due, or 0");
  const undeliverable = gauge("subscriptions_undeliverable", "Subscriptions that wait to be enabled again");
  const lag = gauge("outbox_lag_blocks", "Blocks of the chain whose events are not taken yet");

  return async function collect(): Promise<void> {
    for (const one of [pending, oldest, undeliverable, lag]) one.remove();
    const [figures, head] = await Promise.all([
      soon(SOURCE_MS, readFigures(sql, chainId)),
      soon(SOURCE_MS, chain.client.getBlockNumber()),
    ]);
    if (!figures) return;
    pending.set(figures.pending);
    oldest.set(figures.oldest ?? 0);
    undeliverable.set(figures.undeliverable);
    if (head !== undefined && figures.passed !== null) {
      lag.set(Math.max(0, Number(head - BigInt(figures.passed))));
    }
  };
}
