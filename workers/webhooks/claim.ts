import type { Sql } from "postgres";

/**
 * SQL that takes deliveries to make. A subscription is one writer's at a time, by a lease and by the database's clock; what
 * is about to be sent is marked as taken, and committed, before it is sent.
 */

/** Longer than a turn's last attempt can last, short enough for another writer to take over soon. */
export const LEASE_SECONDS = 25;
/** Deliveries of one subscription that are taken together. */
const TURN_DELIVERIES = 20;
/** Subscriptions that the sweeper finds at once. */
export const SWEEP_LIMIT = 5000;

/** Who a writer is: what it leases bears this. */
export type Writer = { readonly chainId: number /** A UUID. */; readonly token: string };

export type TakenDelivery = {
  readonly id: string;
  readonly eventId: string;
  readonly body: string;
  /** Failed attempts before this one. */
  readonly failures: number;
  /** This taking, by which the row is known to be still ours; the database's clock, to the microsecond. */
  readonly takenAt: string;
  /** What stood there before: an attempt whose outcome nobody knows. Null when there was none. */
  readonly formerTakenAt: string | null;
};

/** A subscription that this writer has leased, and what is due for it, in the order of the events. Secrets are sealed. */
export type Turn = {
  readonly webhookId: string;
  readonly url: string;
  readonly wallet: string;
  readonly secret: string;
  readonly previousSecret: string | null;
  readonly deliveries: readonly TakenDelivery[];
};

type Row = Omit<Turn, "deliveries"> & TakenDelivery;

/** Leases those of the subscriptions that are active, free and have deliveries due. The others are left out. */
export async function claim(
  sql: Sql,
  writer: Writer,
  webhookIds: readonly string[],
): Promise<ReadonlyMap<string, Turn>> {
  // Rows are looked at anew where they are updated: what another writer settled since this statement began is not taken.
  const rows = await sql<Row[]>`
    with free as (
      select w.id, w.url, w.wallet, w.secret,
        case when w.previous_secret_until > now() then w.previous_secret end as previous_secret
      from service.webhook w
      where w.id = any(${[...webhookIds]}::text[]::bigint[]) and w.chain_id = ${writer.chainId} and w.state = 'active'
        and (w.lease_until <= now() or w.lease_token = ${writer.token}::uuid)
      order by w.id for no key update skip locked
    ), due as (
      select d.* from free f, lateral (
        select d.id, d.webhook_id, d.event_seq, d.taken_at, e.id as event_id, e.body, e.reverted_at
        from service.delivery d join service.event e on e.seq = d.event_seq
        where d.webhook_id = f.id and d.state = 'pending' and not d.test and d.next_attempt_at <= now()
        order by d.event_seq limit ${TURN_DELIVERIES}
      ) d
    ), cancelled as (
      update service.delivery d set state = 'cancelled' from due
      where d.id = due.id and due.reverted_at is not null and d.state = 'pending'
    ), taken as (
      update service.delivery d set taken_at = now() from due
      where d.id = due.id and due.reverted_at is null and d.state = 'pending' and d.next_attempt_at <= now()
      returning d.id, d.webhook_id, d.event_seq, d.failures, d.taken_at, due.taken_at as former, due.event_id, due.body
    ), leased as (
      update service.webhook w set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
        lease_token = ${writer.token}::uuid
      where w.id in (select webhook_id from taken)
    )
    select f.id::text as "webhookId", f.url, f.wallet, f.secret, f.previous_secret as "previousSecret", t.id::text,
      t.event_id as "eventId", t.body, t.failures, t.taken_at::text as "takenAt", t.former::text as "formerTakenAt"
    from taken t join free f on f.id = t.webhook_id order by t.webhook_id, t.event_seq`;
  const turns = new Map<string, Turn & { deliveries: TakenDelivery[] }>();
  for (const { webhookId, url, wallet, secret, previousSecret, ...delivery } of rows) {
    const turn = turns.get(webhookId) ?? { webhookId, url, wallet, secret, previousSecret, deliveries: [] };
    turn.deliveries.push(delivery);
    turns.set(webhookId, turn);
  }
  return turns;
}

/** Gives deliveries back that were taken and not sent, as they were before. */
export async function handBack(sql: Sql, deliveries: readonly TakenDelivery[]): Promise<void> {
  if (deliveries.length === 0) return;
  const rows = deliveries.map(({ id, takenAt, formerTakenAt }) => ({ id, takenAt, formerTakenAt }));
  await sql`
    update service.delivery d set taken_at = r."formerTakenAt"
    from json_to_recordset(${JSON.stringify(rows)}::text::json)
      as r (id bigint, "takenAt" timestamptz, "formerTakenAt" timestamptz)
    where d.id = r.id and d.taken_at = r."takenAt"`;
}

/** Lets a lease be nobody's until it lapses: a writer may claim what it has leased itself. */
export async function rest(sql: Sql, writer: Writer, webhookId: string): Promise<void> {
  await sql`
    update service.webhook set lease_token = null
    where id = ${webhookId}::bigint and lease_token = ${writer.token}::uuid`;
}

/**
 * Ends leases. @returns in how many ms the next delivery of each subscription is due, 0 when it is by now; those that
 * wait for nothing are left out.
 */
export async function release(
  sql: Sql,
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
        -- The first that is due ends the search: after a long silence there may be many.
        (select 0 from service.delivery d
          where d.webhook_id = r.id and d.state = 'pending' and not d.test and d.next_attempt_at <= now() limit 1),
        (select extract(epoch from min(d.next_attempt_at) - now()) * 1000 from service.delivery d
          where d.webhook_id = r.id and d.state = 'pending' and not d.test))::float8 as ms
      from released r where r.state = 'active') r
    where ms is not null`;
  return new Map(rows.map(({ id, ms }) => [id, ms]));
}

/**
 * Free subscriptions with ids above `after` that have deliveries due, by their ids; `failing` when one of these has failed
 * before. It leaps from one subscription to the next in the index of what is pending, so that those with nothing pending
 * cost nothing. (`offset 0`: on tables without statistics yet, Postgres would rather walk through all subscriptions for
 * each of them.)
 */
export async function findDue(
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
        order by d.event_seq limit ${TURN_DELIVERIES}) d
    ) due
    where w.chain_id = ${chainId} and w.state = 'active' and w.lease_until <= now() and due.failing is not null
    order by p.webhook_id limit ${SWEEP_LIMIT}`;
}
