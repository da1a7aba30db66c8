/**
 * Events that are sent again, or late: to a subscription that was undeliverable, or because its subscriber asks.
 *
 * Each transaction holds the outbox, so that between it and a pass no event is lost, and none that was taken off the chain
 * slips through. It is about a bounded number of events, and so holds it for a moment only; it has locked the subscription
 * before, so that whoever waits for that keeps nobody else waiting.
 */
import { type SQL, sql } from "drizzle-orm";
import type { Database } from "../../lib/db/connect.ts";
import { lower } from "../../lib/lower.ts";
import { holdOutbox, type Tx, whileWanted } from "../../lib/webhooks/outbox-lock.ts";
import type { Owner, Webhook } from "./store.ts";

/** How far back events are sent again, in days. */
export const REPLAY_DAYS = 30;
const oldest = sql`now() - make_interval(days => ${REPLAY_DAYS})`;
/** Events of one kind that one transaction looks at: a pass waits for a round, and whoever comes next waits for the pass. */
const ROUND = 500;

const ofOwner = (webhookId: number, { chain, wallet }: Owner) =>
  sql`id = ${webhookId} and chain_id = ${chain} and wallet = ${lower(wallet)} and state <> 'deleted'`;

/**
 * The subscription's events behind `after`, as the query `found`, and how far that has `looked`: null when to the end.
 * Whose an event is, `is_for` alone knows; what it can be true for is found by indexes, in three kinds, and where one of
 * these is cut off, the others wait. `where` says more of the event `e`.
 */
const itsEvents = (webhookId: number, owner: Owner, after: string, where: SQL) => sql`
  of_wallet as (
    select seq from service.event where parties @> array[${lower(owner.wallet)}] and seq > ${after}
    order by seq limit ${ROUND}),
  burns as (
    select seq from service.event where type = 'token_burned' and seq > ${after} and exists (
      select 1 from service.webhook where id = ${webhookId} and events && array['*', 'token_burned'])
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

/** How many events a wallet has decides how they are found: a plan for any wallet reads far too much for most. */
const planAnew = (tx: Tx) => tx.execute(sql`set local plan_cache_mode = force_custom_plan`);

/** Events `e` whose numbers rise with their times: not samples, each of which has a transaction of its own. */
const inOrder = sql`e.type <> 'webhook_test'`;

type Round = { looked: string | null; count: number };

/**
 * A round of making an undeliverable subscription active again: first what it missed is recorded, then what was given
 * up is taken up again; the last round makes it active. A process that dies in between leaves it undeliverable, and the
 * next call goes on.
 * @returns how many deliveries were scheduled; undefined when the wallet has no such subscription
 */
export function retryRound(
  db: Database,
  owner: Owner,
  webhookId: number,
  wanted: AbortSignal,
): Promise<{ scheduled: number; done: boolean } | undefined> {
  return whileWanted(db, wanted, async (tx) => {
    const [webhook] = await tx.execute<{ state: Webhook["state"]; position: string | null }>(sql`
      select state, position from service.webhook where ${ofOwner(webhookId, owner)} for no key update`);
    if (!webhook) return undefined;
    if (webhook.state === "active") return { scheduled: 0, done: true };

    await holdOutbox(tx, owner.chain);
    await planAnew(tx);
    // Behind what was missed, or what is too old by now.
    const young = sql`e.created_at > ${oldest}`;
    const [begin] = await tx.execute<{ before: string }>(sql`
      select greatest(${webhook.position}::bigint, (
        select seq - 1 from service.event e where ${young} and ${inOrder} order by created_at, seq limit 1)) as before`);
    const [missed] = await tx.execute<Round>(sql`
      with ${itsEvents(webhookId, owner, begin?.before ?? LAST_EVENT, young)},
      added as (
        insert into service.delivery (webhook_id, event_seq) select ${webhookId}::bigint, seq from found order by seq
        on conflict do nothing returning 1)
      select (select seq from looked) as looked, (select count(*)::int from added) as count`);
    if (!missed) throw new Error("the database returned no row for a round");
    if (missed.looked !== null) {
      await tx.execute(sql`update service.webhook set position = ${missed.looked} where id = ${webhookId}`);
      return { scheduled: missed.count, done: false };
    }

    const [givenUp] = await tx.execute<{ found: number; again: number }>(sql`
      with found as (
        select d.id, e.reverted_at is null as again
        from service.delivery d join service.event e on e.seq = d.event_seq
        where d.webhook_id = ${webhookId} and d.state = 'undeliverable' and not d.test and ${young}
        order by d.event_seq limit ${ROUND}),
      changed as (
        update service.delivery d
        set state = case when found.again then 'pending' else 'cancelled' end, failures = 0, next_attempt_at = now()
        from found where d.id = found.id)
      select count(*)::int as found, count(*) filter (where again)::int as again from found`);
    const scheduled = missed.count + (givenUp?.again ?? 0);
    if (givenUp && givenUp.found >= ROUND) return { scheduled, done: false };
    await tx.execute(sql`update service.webhook set state = 'active', position = null, undeliverable_at = null
      where id = ${webhookId}`);
    return { scheduled, done: true };
  });
}

/** What keeps a replay from being done. */
export type ReplayHindrance =
  | "webhook_not_found"
  | "webhook_undeliverable"
  | "delivery_not_found"
  | "event_reverted"
  /** A sample is not sent again. */
  | "is_test";

/**
 * Holds the subscription, so that none of its deliveries is taken meanwhile, and it is not deleted.
 * @returns what hinders a replay
 */
async function holdActive(tx: Tx, owner: Owner, webhookId: number): Promise<ReplayHindrance | undefined> {
  const [webhook] = await tx.execute<{ state: Webhook["state"] }>(sql`
    select state from service.webhook where ${ofOwner(webhookId, owner)} for no key update`);
  if (!webhook) return "webhook_not_found";
  return webhook.state === "active" ? undefined : "webhook_undeliverable";
}

const anew = sql`state = 'pending', failures = 0, next_attempt_at = now()`;
/** Of a delivery `d`: one that is under way just now is left to its writer, for it arrives or is tried again. */
const isIdle = sql`(d.state <> 'pending' or d.taken_at is null)`;

/** Schedules a delivery once more, from the beginning of its schedule. Idempotent until it is taken up. */
export function replayDelivery(
  db: Database,
  owner: Owner,
  { webhookId, deliveryId }: { webhookId: number; deliveryId: number },
  wanted: AbortSignal,
): Promise<ReplayHindrance | undefined> {
  return whileWanted(db, wanted, async (tx) => {
    const hindrance = await holdActive(tx, owner, webhookId);
    if (hindrance) return hindrance;
    await holdOutbox(tx, owner.chain);
    const [delivery] = await tx.execute<{ test: boolean; reverted: boolean }>(sql`
      select d.test, e.reverted_at is not null as reverted
      from service.delivery d join service.event e on e.seq = d.event_seq
      where d.id = ${deliveryId} and d.webhook_id = ${webhookId}`);
    if (!delivery) return "delivery_not_found";
    if (delivery.test) return "is_test";
    if (delivery.reverted) return "event_reverted";
    await tx.execute(sql`update service.delivery d set ${anew} where d.id = ${deliveryId} and ${isIdle}`);
    return undefined;
  });
}

/** Behind every event. */
const LAST_EVENT = String(2n ** 63n - 1n);

/** Number of the event behind which those lie that were recorded from `since` on. */
export async function eventBefore(db: Database, since: Date): Promise<string> {
  const [first] = await db.execute<{ before: string }>(sql`
    select seq - 1 as before from service.event e
    where created_at >= ${since.toISOString()}::timestamptz and ${inOrder} order by created_at, seq limit 1`);
  return first?.before ?? LAST_EVENT;
}

/** A round of a replay of what was recorded from `since` on, behind `after`. `next`: where the next one begins. */
export function replayRound(
  db: Database,
  owner: Owner,
  { webhookId, since, after }: { webhookId: number; since: Date; after: string },
  wanted: AbortSignal,
): Promise<{ hindrance: ReplayHindrance } | { scheduled: number; next: string | undefined }> {
  return whileWanted(db, wanted, async (tx) => {
    const hindrance = await holdActive(tx, owner, webhookId);
    if (hindrance) return { hindrance };
    await holdOutbox(tx, owner.chain);
    await planAnew(tx);
    const from = sql`e.created_at >= ${since.toISOString()}::timestamptz`;
    const [round] = await tx.execute<Round>(sql`
      with ${itsEvents(webhookId, owner, after, from)},
      added as (
        insert into service.delivery (webhook_id, event_seq) select ${webhookId}::bigint, seq from found order by seq
        on conflict do nothing),
      again as (
        update service.delivery d set ${anew} from found
        where d.webhook_id = ${webhookId} and d.event_seq = found.seq and ${isIdle})
      select (select seq from looked) as looked, (select count(*)::int from found) as count`);
    if (!round) throw new Error("the database returned no row for a round");
    return { scheduled: round.count, next: round.looked ?? undefined };
  });
}
