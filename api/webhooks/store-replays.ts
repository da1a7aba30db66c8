/**
 * Sends events again: to a subscription that was undeliverable, or because its subscriber asks for a replay.
 *
 * Each transaction holds the outbox, so that no event is lost between it and a run of the outbox, and no reverted event is sent. It
 * handles a limited number of events, so that it holds the outbox only briefly. It locks the subscription first, so that a
 * call that waits for the subscription does not hold the outbox.
 */
import type { ISql, PendingQuery, Row, Sql, TransactionSql } from "postgres";
import { lower } from "../../lib/lower.ts";
import { abortableTransaction, lockOutboxShared } from "../../lib/webhooks/outbox-lock.ts";
import { isWebhook, type Owner, type Webhook } from "./store.ts";

type Condition = PendingQuery<Row[]>;

/** Events are sent again for this many days. */
export const REPLAY_DAYS = 30;
/** The most events of one kind per transaction: the outbox waits for a round, and other calls wait for the outbox. */
const ROUND = 500;

/**
 * The subscription's events after number `after`, as the query `found`, and the number up to which it `looked`: null when it
 * reached the end. Only `is_for` decides whether an event is the subscription's. The candidates come from indexes, in three
 * kinds; where one kind reaches the limit, the others stop at the same number. `where` is a further condition on the event
 * `e`.
 */
const findEvents = (sql: ISql, webhookId: number, owner: Owner, after: string, where: Condition) => sql`
  of_wallet as (
    select seq from service.event where parties @> array[${lower(owner.wallet)}] and seq > ${after}
    order by seq limit ${ROUND}),
  burns as (
    select seq from service.event where type = 'token_burned' and seq > ${after} and exists (
      select 1 from service.webhook where id = ${webhookId} and 'token_burned' = any (events))
    order by seq limit ${ROUND}),
  reversals as (
    select seq from service.event where reverts is not null and seq > ${after} order by seq limit ${ROUND}),
  looked as (
    select min(last) as seq from (
      select max(seq) as last from of_wallet having count(*) >= ${ROUND}
      union all select max(seq) from burns having count(*) >= ${ROUND}
      union all select max(seq) from reversals having count(*) >= ${ROUND}) cut_off),
  found as (
    select e.seq from service.event e join service.webhook w on w.id = ${webhookId}
    where e.seq in (select seq from of_wallet union select seq from burns union select seq from reversals)
      and e.seq <= coalesce((select seq from looked), e.seq) and ${where} and service.is_for(e, w))`;

/** Gives the subscription deliveries of the events that {@link findEvents} has found; the number of new ones. */
const addFound = (sql: ISql, webhookId: number) => sql`
  service.add_deliveries(${webhookId}::bigint, array(select seq from found))`;

/** Plans each statement anew: the best plan depends on how many events the wallet has, and a generic one reads too much. */
const planAnew = (tx: TransactionSql) => tx`set local plan_cache_mode = force_custom_plan`;

/** The number before the first event `e` that meets a condition. Only test events can be out of order of their times. */
const numberBefore = (sql: ISql, where: Condition) => sql<{ before: string }[]>`
  select seq - 1 as before from service.event e
  where ${where} and e.type not in ('webhook_test', 'webhook_challenge') order by created_at, seq limit 1`;

type Round = { looked: string | null; count: number };

/**
 * One round of reactivating an undeliverable subscription. The first rounds record the events that it missed, the next ones
 * schedule its undeliverable deliveries again, and the last one makes it active. If the process dies in between, the
 * subscription stays undeliverable, and the next call continues.
 * @returns how many deliveries were scheduled; undefined when the wallet has no such subscription
 */
export function retryRound(
  sql: Sql,
  owner: Owner,
  webhookId: number,
  wanted: AbortSignal,
): Promise<{ scheduled: number; done: boolean } | undefined> {
  return abortableTransaction(sql, wanted, async (tx) => {
    const [webhook] = await tx<{ state: Webhook["state"]; position: string | null }[]>`
      select state, position from service.webhook where ${isWebhook(tx, webhookId, owner)} for no key update`;
    if (!webhook) return undefined;
    if (webhook.state === "active") return { scheduled: 0, done: true };

    await lockOutboxShared(tx, owner.chain);
    await planAnew(tx);
    const young = tx`e.created_at > now() - make_interval(days => ${REPLAY_DAYS})`;
    // After the last event before it became undeliverable, or the last one that is too old now.
    const [begin] = await tx<{ before: string }[]>`
      select greatest(${webhook.position}::bigint, (${numberBefore(tx, young)})) as before`;
    const [missed] = await tx<Round[]>`
      with ${findEvents(tx, webhookId, owner, begin?.before ?? LAST_EVENT, young)}
      select (select seq from looked) as looked, ${addFound(tx, webhookId)} as count`;
    if (!missed) throw new Error("the database returned no row for a round");
    if (missed.looked !== null) {
      await tx`update service.webhook set position = ${missed.looked} where id = ${webhookId}`;
      return { scheduled: missed.count, done: false };
    }

    const [givenUp] = await tx<{ found: number; again: number }[]>`
      with found as (
        select d.id, e.reverted_at is null as again
        from service.delivery d join service.event e on e.seq = d.event_seq
        where d.webhook_id = ${webhookId} and d.state = 'undeliverable' and not d.test and ${young}
        order by d.event_seq limit ${ROUND}),
      changed as (
        update service.delivery d
        set state = case when found.again then 'pending' else 'cancelled' end, failures = 0, next_attempt_at = now()
        from found where d.id = found.id)
      select count(*)::int as found, count(*) filter (where again)::int as again from found`;
    const scheduled = missed.count + (givenUp?.again ?? 0);
    if (givenUp && givenUp.found >= ROUND) return { scheduled, done: false };
    await tx`
      update service.webhook set state = 'active', position = null, undeliverable_at = null where id = ${webhookId}`;
    return { scheduled, done: true };
  });
}

/** Why a replay is refused. */
export type ReplayRefusal =
  | "webhook_not_found"
  | "webhook_undeliverable"
  | "delivery_not_found"
  | "event_reverted"
  /** A test delivery is not sent again. */
  | "is_test";

/**
 * Locks the subscription, so that until the transaction ends no delivery is taken and the subscription is not deleted.
 * @returns why a replay is refused
 */
async function lockActive(
  tx: TransactionSql,
  owner: Owner,
  webhookId: number,
): Promise<ReplayRefusal | undefined> {
  const [webhook] = await tx<Pick<Webhook, "state">[]>`
    select state from service.webhook where ${isWebhook(tx, webhookId, owner)} for no key update`;
  if (!webhook) return "webhook_not_found";
  return webhook.state === "active" ? undefined : "webhook_undeliverable";
}

/** Schedules deliveries `d` again, but not those in progress: their writer delivers them or tries again. */
const scheduleIdle = (sql: ISql, from: Condition, where: Condition) => sql`
  update service.delivery d set state = 'pending', failures = 0, next_attempt_at = now() ${from}
  where ${where} and (d.state <> 'pending' or d.taken_at is null)`;

/** Schedules a delivery again, from the beginning of its retry schedule. Idempotent until a writer takes it. */
export function replayDelivery(
  sql: Sql,
  owner: Owner,
  { webhookId, deliveryId }: { webhookId: number; deliveryId: number },
  wanted: AbortSignal,
): Promise<ReplayRefusal | undefined> {
  return abortableTransaction(sql, wanted, async (tx) => {
    const refusal = await lockActive(tx, owner, webhookId);
    if (refusal) return refusal;
    await lockOutboxShared(tx, owner.chain);
    const [delivery] = await tx<{ test: boolean; reverted: boolean }[]>`
      select d.test, e.reverted_at is not null as reverted
      from service.delivery d join service.event e on e.seq = d.event_seq
      where d.id = ${deliveryId} and d.webhook_id = ${webhookId}`;
    if (!delivery) return "delivery_not_found";
    if (delivery.test) return "is_test";
    if (delivery.reverted) return "event_reverted";
    await scheduleIdle(tx, tx``, tx`d.id = ${deliveryId}`);
    return undefined;
  });
}

/** The highest number that an event can have. */
const LAST_EVENT = String(2n ** 63n - 1n);

/** The number before the first event that was recorded since a time. */
export async function eventBefore(sql: Sql, since: Date): Promise<string> {
  const [first] = await numberBefore(sql, sql`e.created_at >= ${since}`);
  return first?.before ?? LAST_EVENT;
}

/** One round of a replay of the events recorded since a time, after number `after`; `next` is the next round's `after`. */
export function replayRound(
  sql: Sql,
  owner: Owner,
  { webhookId, since, after }: { webhookId: number; since: Date; after: string },
  wanted: AbortSignal,
): Promise<{ refusal: ReplayRefusal } | { scheduled: number; next: string | undefined }> {
  return abortableTransaction(sql, wanted, async (tx) => {
    const refusal = await lockActive(tx, owner, webhookId);
    if (refusal) return { refusal };
    await lockOutboxShared(tx, owner.chain);
    await planAnew(tx);
    const [round] = await tx<Round[]>`
      with ${findEvents(tx, webhookId, owner, after, tx`e.created_at >= ${since}`)},
      again as (${scheduleIdle(tx, tx`from found`, tx`d.webhook_id = ${webhookId} and d.event_seq = found.seq`)})
      select (select seq from looked) as looked, (select count(*)::int from found) as count,
        ${addFound(tx, webhookId)} as added`;
    if (!round) throw new Error("the database returned no row for a round");
    return { scheduled: round.count, next: round.looked ?? undefined };
  });
}
