import type { ISql, Sql } from "postgres";

/**
 * SQL that claims deliveries. One writer at a time has a subscription's lease, which expires by the database's clock. A delivery
 * is marked as taken, and committed, before it is sent.
 */

/** Longer than a batch with its last attempt, and short enough for another writer to take over soon. */
export const LEASE_SECONDS = 25;
/** Deliveries of one subscription in a batch. */
const BATCH_DELIVERIES = 20;
/** Subscriptions that one sweep finds. */
export const SWEEP_LIMIT = 5000;

/** A writer; `token`, a UUID, marks its leases. */
export type Writer = { readonly chainId: number; readonly token: string };

export type ClaimedDelivery = {
  readonly id: string;
  readonly eventId: string;
  readonly body: string;
  /** The trace of the purchase that caused the event; null without one. */
  readonly traceparent: string | null;
  /** Failed attempts before this one. */
  readonly failures: number;
  /** The time of this claim, to the microsecond: while the row has it, no other writer has claimed the delivery. */
  readonly takenAt: string;
  /** The time of an earlier claim with an unknown outcome; null without one. */
  readonly previousTakenAt: string | null;
};

/** A leased subscription with its sealed secrets, and its due deliveries in event order. */
export type Batch = {
  readonly webhookId: string;
  readonly url: string;
  readonly wallet: string;
  readonly secret: string;
  readonly previousSecret: string | null;
  /** Its receiver has echoed a challenge. */
  readonly verified: boolean;
  readonly deliveries: readonly ClaimedDelivery[];
};

type Row = Omit<Batch, "deliveries"> & ClaimedDelivery;

/**
 * Leases the subscriptions that are active, without another writer's lease, and have due deliveries. An event waits while the
 * fan-out has yet to create the subscription's delivery of an earlier one.
 *
 * What is due is decided by `clock_timestamp()`. With `now()`, deliveries of burns that the fan-out created after the statement had
 * arrived would not be due, although the statement sees them, and later events would be sent first.
 */
export async function claimDeliveries(
  sql: ISql,
  writer: Writer,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, Batch>> {
  // The updates check the rows again: another writer may have settled a delivery since this statement began.
  const rows = await sql<Row[]>`
    with free as (
      select w.id, w.url, w.wallet, w.secret, w.verified_at is not null as verified,
        case when w.previous_secret_until > now() then w.previous_secret end as previous_secret,
        -- Only burns and their reversals are fanned out, and anybody can cause as many as gas pays for.
        case when 'token_burned' = any(w.events) then (
          select e.seq from service.fan_out o join service.event e on e.seq = o.event_seq
          where o.reached < w.id and service.is_for(e, w) order by o.event_seq limit 1) end as still_to_come
      from service.webhook w
      where w.id = any(${[...webhookIds]}::text[]::bigint[]) and w.chain_id = ${writer.chainId} and w.state = 'active'
        and (w.lease_until <= now() or w.lease_token = ${writer.token}::uuid)
      order by w.id for no key update skip locked
    ), due as (
      select d.* from free f, lateral (
        select d.id, d.webhook_id, d.event_seq, d.taken_at, e.id as event_id, e.body, e.traceparent, e.reverted_at
        from service.delivery d join service.event e on e.seq = d.event_seq
        where d.webhook_id = f.id and d.state = 'pending' and not d.test
          and d.next_attempt_at <= clock_timestamp() and (f.still_to_come is null or d.event_seq < f.still_to_come)
        order by d.event_seq limit ${BATCH_DELIVERIES}
      ) d
    ), cancelled as (
      update service.delivery d set state = 'cancelled' from due
      where d.id = due.id and due.reverted_at is not null and d.state = 'pending'
    ), taken as (
      update service.delivery d set taken_at = now() from due
      where d.id = due.id and due.reverted_at is null and d.state = 'pending'
        and d.next_attempt_at <= clock_timestamp()
      returning d.id, d.webhook_id, d.event_seq, d.failures, d.taken_at, due.taken_at as previous, due.event_id, due.body,
        due.traceparent
    ), leased as (
      update service.webhook w set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        lease_token = ${writer.token}::uuid
      where w.id in (select webhook_id from taken)
    )
    select f.id::text as "webhookId", f.url, f.wallet, f.secret, f.previous_secret as "previousSecret", f.verified,
      t.id::text, t.event_id as "eventId", t.body, t.traceparent, t.failures, t.taken_at::text as "takenAt",
      t.previous::text as "previousTakenAt"
    from taken t join free f on f.id = t.webhook_id order by t.webhook_id, t.event_seq`;
  const batches = new Map<string, Batch & { deliveries: ClaimedDelivery[] }>();
  for (const { webhookId, url, wallet, secret, previousSecret, verified, ...delivery } of rows) {
    const batch = batches.get(webhookId) ?? {
      webhookId,
      url,
      wallet,
      secret,
      previousSecret,
      verified,
      deliveries: [],
    };
    batch.deliveries.push(delivery);
    batches.set(webhookId, batch);
  }
  return batches;
}

/** Restores deliveries that were claimed and not sent. */
export async function unclaimDeliveries(sql: ISql, deliveries: readonly ClaimedDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map(({ id, takenAt, previousTakenAt }) => ({ id, takenAt, previousTakenAt }));
  await sql`
    update service.delivery d set taken_at = r."previousTakenAt"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (id bigint, "takenAt" timestamptz, "previousTakenAt" timestamptz)
    where d.id = r.id and d.taken_at = r."takenAt"`;
}

/**
 * Gives up a lease without ending it: no writer can claim the subscription before it expires. With `ms` it expires after that time,
 * or now if the subscription was verified meanwhile.
 */
export async function leaveLease(sql: Sql, writer: Writer, webhookId: string, ms?: number): Promise<void> {
  await sql`
    update service.webhook set lease_token = null,
      lease_until = case when ${ms === undefined} then lease_until when verified_at is null
        then now() + make_interval(secs => ${(ms ?? 0) / 1000}) else '-infinity' end
    where id = ${webhookId}::bigint and lease_token = ${writer.token}::uuid`;
}

/**
 * Ends leases.
 * @returns ms until each subscription's next delivery is due, 0 when it is due already; none for one without pending deliveries.
 */
export async function releaseLeases(
  sql: ISql,
  writer: Writer,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, number>> {
  const rows = await sql<{ id: string; ms: number }[]>`
    with released as (
      update service.webhook set lease_until = '-infinity', lease_token = null
      where id = any(${[...webhookIds]}::text[]::bigint[]) and lease_token = ${writer.token}::uuid
      returning id, state
    )
    select id::text, ms from (
      select r.id, coalesce(
        -- After a long outage many may be due: the first one ends the search.
        (select 0 from service.delivery d
          where d.webhook_id = r.id and d.state = 'pending' and not d.test and d.next_attempt_at <= now() limit 1),
        (select extract(epoch from min(d.next_attempt_at) - now()) * 1000 from service.delivery d
          where d.webhook_id = r.id and d.state = 'pending' and not d.test))::float8 as ms
      from released r where r.state = 'active') r
    where ms is not null`;
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}

/**
 * Finds subscriptions with ids above `after` that have due deliveries and no lease, by id; `failing` when one of these
 * deliveries has failed before. The recursion skips from one subscription to the next in the index of pending deliveries, so
 * that others cost nothing. (Without `offset 0`, Postgres would scan all subscriptions for each while it lacks statistics.)
 */
export async function findDueSubscriptions(
  sql: Sql,
  chainId: number,
  after: string,
): Promise<readonly { webhookId: string; failing: boolean }[]> {
  return sql<{ webhookId: string; failing: boolean }[]>`
    with recursive pending as (
      (select webhook_id from service.delivery
        where state = 'pending' and webhook_id > ${after}::bigint order by webhook_id limit 1)
      union all
      select d.webhook_id from pending p, lateral (
        select webhook_id from service.delivery
        where state = 'pending' and webhook_id > p.webhook_id order by webhook_id limit 1) d
    )
    select w.id::text as "webhookId", due.failing
    from pending p, lateral (select * from service.webhook w where w.id = p.webhook_id offset 0) w, lateral (
      select bool_or(failures > 0) as failing from (
        select failures from service.delivery d
        where d.webhook_id = w.id and d.state = 'pending' and not d.test and d.next_attempt_at <= now()
        order by d.event_seq limit ${BATCH_DELIVERIES}) d
    ) due
    where w.chain_id = ${chainId} and w.state = 'active' and w.lease_until <= now() and due.failing is not null
    order by p.webhook_id limit ${SWEEP_LIMIT}`;
}
