import type { ISql, TransactionSql } from "postgres";
import type { Attempt } from "../../lib/webhooks/attempt.ts";
import { MAX_FAILURES } from "./retry-schedule.ts";

/** SQL that stores the outcomes of attempts. */

/** Stored attempts of one delivery, the newest. */
const KEPT_ATTEMPTS = 20;

type AnyAttempt = {
  readonly webhookId: string;
  readonly deliveryId: string;
  /** The time of the claim of this attempt. */
  readonly takenAt: string;
  readonly attempt: Attempt;
};
/** The outcome of a delivery's last attempt, which failed: the subscription becomes undeliverable. */
export type LastFailure = AnyAttempt & { readonly kind: "exhausted" };
/** Any other outcome. `retryIn`: seconds until the next attempt. */
export type OtherOutcome = AnyAttempt &
  ({ readonly kind: "delivered" } | { readonly kind: "failed"; readonly retryIn: number });
/** The outcome of an attempt. */
export type Settlement = OtherOutcome | LastFailure;

export async function settleDeliveries(sql: ISql, settlements: readonly OtherOutcome[]): Promise<void> {
  await storeAttempts(sql, settlements);
}

/**
 * Stores attempts. An attempt after the lease expired counts when it delivered; when it failed, the writer that claimed the
 * delivery since decides. A delivery that was cancelled, or delivered by another attempt, stays so.
 * @returns the ids of the pending deliveries that have no attempt left.
 */
async function storeAttempts(sql: ISql, settlements: readonly Settlement[]): Promise<string[]> {
  const rows = settlements.map((one) => ({
    id: one.deliveryId,
    taken_at: one.takenAt,
    attempt: one.attempt,
    delivered: one.kind === "delivered",
    retry_in: one.kind === "failed" ? one.retryIn : 0,
  }));
  // In one order, so that two writers rarely lock each other's rows.
  rows.sort((a, b) => Number(a.id) - Number(b.id));
  const counts = sql`not r.delivered and d.state = 'pending' and d.taken_at = r.taken_at`;
  const updated = await sql<{ id: string; exhausted: boolean }[]>`
    update service.delivery d set
      attempts = case when jsonb_array_length(d.attempts) < ${KEPT_ATTEMPTS} then d.attempts else d.attempts - 0 end
        || r.attempt,
      state = case when r.delivered then 'delivered' else d.state end,
      delivered_at = case when r.delivered then now() else d.delivered_at end,
      failures = case when ${counts} then d.failures + 1 else d.failures end,
      next_attempt_at = case when ${counts} then now() + make_interval(secs => r.retry_in) else d.next_attempt_at end,
      taken_at = case when r.delivered or d.taken_at = r.taken_at then null else d.taken_at end
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (
      id bigint, taken_at timestamptz, attempt jsonb, delivered boolean, retry_in float8)
    where d.id = r.id
    returning d.id::text, d.state = 'pending' and d.failures >= ${MAX_FAILURES} as exhausted`;
  return updated.filter(({ exhausted }) => exhausted).map(({ id }) => id);
}

/**
 * Stores the last attempt, and makes its subscription and all its pending deliveries undeliverable, in the caller's transaction.
 * `position` points before the first undelivered event. It locks the subscription before its deliveries, as every transaction does.
 */
export async function makeUndeliverable(tx: TransactionSql, settlement: LastFailure): Promise<void> {
  const { webhookId } = settlement;
  await tx`select 1 from service.webhook where id = ${webhookId}::bigint for no key update`;
  if ((await storeAttempts(tx, [settlement])).length === 0) return;
  await tx`
    with waiting as (
      update service.delivery set state = 'undeliverable'
      where webhook_id = ${webhookId}::bigint and state = 'pending' and not test returning event_seq
    )
    update service.webhook set state = 'undeliverable', undeliverable_at = now(), lease_until = '-infinity',
      lease_token = null, position = (select min(event_seq) - 1 from waiting)
    where id = ${webhookId}::bigint and state = 'active'`;
}
