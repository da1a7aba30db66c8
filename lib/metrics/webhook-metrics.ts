/** The metrics of webhooks. */
import { counter, gauge, histogram } from "./description.ts";

/** In seconds: from a receiver nearby up to the timeout of an answer. */
const BUCKETS = [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10];

export const webhookMetrics = {
  attempts: counter("webhook_attempts_total", "Attempts to deliver an event, by outcome", ["outcome"]),
  attemptSeconds: histogram("webhook_attempt_seconds", "Duration of attempts", BUCKETS),
  pending: gauge("webhook_deliveries_pending", "Deliveries that are not delivered yet"),
  oldestDue: gauge("webhook_oldest_due_seconds", "Seconds since the oldest due delivery became due, or 0"),
  undeliverable: gauge("webhook_subscriptions_undeliverable", "Subscriptions that are undeliverable"),
  outboxLag: gauge("webhook_outbox_lag_blocks", "Blocks between the chain's head and the outbox"),
} as const;
