import type { ISql } from "postgres";

/** How far deliveries are behind. */
export type WebhookFigures = {
  /** Deliveries that are not made yet, on all chains. */
  pending: number;
  /** Seconds since the oldest due delivery became due, without those that wait for their next hour; null without one. */
  oldest: number | null;
  /** Undeliverable subscriptions of the chain. */
  undeliverable: number;
  /** The newest block whose events are in the outbox, a decimal; null before the first. */
  processed: string | null;
};

export async function webhookFigures(sql: ISql, chainId: number): Promise<WebhookFigures> {
  const [row] = await sql<WebhookFigures[]>`
    select
      (select count(*)::int from service.delivery where state = 'pending'
        and webhook_id not in (select id from service.webhook where state = 'deleted')) as pending,
      (select extract(epoch from now() - min(d.next_attempt_at))::float8
        from service.delivery d join service.webhook w on w.id = d.webhook_id
        where d.state = 'pending' and d.next_attempt_at <= now() and w.state = 'active'
          -- Not one that is not verified and has had its calls of the hour.
          and not (w.verified_at is null and w.lease_token is null and w.lease_until > now())) as oldest,
      (select count(*)::int from service.webhook where chain_id = ${chainId} and state = 'undeliverable') as undeliverable,
      (select processed_block::text from service.outbox where chain_id = ${chainId}) as processed`;
  if (!row) throw new Error("the database returned no figures");
  return row;
}
