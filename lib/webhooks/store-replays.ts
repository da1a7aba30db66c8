/**
 * Events that are sent again, or late: to a subscription that was undeliverable, or because its subscriber asks.
 *
 * Each transaction holds the outbox, so that between it and a pass no event is lost, and none that was taken off the chain
 * slips through. It is about a bounded number of events, and so holds it for a moment only.
 */
import { sql } from "drizzle-orm";
import type { Database } from "../db/connect.ts";
import { lower } from "../ledger/lower.ts";
import { holdOutbox, type Owner, type Webhook } from "./store.ts";

/** How far back events are sent again, in days. */
export const REPLAY_DAYS = 30;
const youngEnough = sql`e.created_at > now() - make_interval(days => ${REPLAY_DAYS})`;
/** Events of one transaction. */
const ROUND = 5000;

type Tx = Parameters<Parameters<Database["transaction"]>[0]>[0];

const ofOwner = (webhookId: number, { chain, wallet }: Owner) =>
  sql`id = ${webhookId} and chain_id = ${chain} and wallet = ${lower(wallet)}`;

/** The subscription's events behind `after`, oldest first, a round of them; `where` says more of the event `e`. */
const itsEvents = (webhookId: number, after: string, where: ReturnType<typeof sql>) => sql`
  select e.seq from service.event e join service.webhook w on w.id = ${webhookId}
  where e.seq > ${after} and ${where} and service.is_for(e, w)
  order by e.seq limit ${ROUND}`;

type Round = { found: number; last: string | null; added: number };

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
): Promise<{ scheduled: number; done: boolean } | undefined> {
  return db.transaction(async (tx) => {
    await holdOutbox(tx, owner.chain);
    const [webhook] = await tx.execute<{ state: Webhook["state"]; position: string | null }>(sql`
      select state, position from service.webhook where ${ofOwner(webhookId, owner)} for no key update`);
    if (!webhook) return undefined;
    if (webhook.state === "active") return { scheduled: 0, done: true };

    const [missed] = await tx.execute<Round>(sql`
      with found as (${itsEvents(webhookId, webhook.position ?? "0", youngEnough)}),
      added as (
        insert into service.delivery (webhook_id, event_seq) select ${webhookId}::bigint, seq from found order by seq
        on conflict do nothing returning 1)
      select count(*)::int as found, max(seq) as last, (select count(*)::int from added) as added from found`);
    if (missed && missed.found >= ROUND) {
      await tx.execute(sql`update service.webhook set position = ${missed.last} where id = ${webhookId}`);
      return { scheduled: missed.added, done: false };
    }

    const [givenUp] = await tx.execute<{ found: number; again: number }>(sql`
      with found as (
        select d.id, e.reverted_at is null as again
        from service.delivery d join service.event e on e.seq = d.event_seq
        where d.webhook_id = ${webhookId} and d.state = 'undeliverable' and not d.test and ${youngEnough}
        order by d.event_seq limit ${ROUND}),
      changed as (
        update service.delivery d
        set state = case when found.again then 'pending' else 'cancelled' end, failures = 0, next_attempt_at = now()
        from found where d.id = found.id)
      select count(*)::int as found, count(*) filter (where again)::int as again from found`);
    const scheduled = (missed?.added ?? 0) + (givenUp?.again ?? 0);
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

/** Holds the subscription against its deletion. @returns what hinders a replay */
async function holdActive(tx: Tx, owner: Owner, webhookId: number): Promise<ReplayHindrance | undefined> {
  const [webhook] = await tx.execute<{ state: Webhook["state"] }>(sql`
    select state from service.webhook where ${ofOwner(webhookId, owner)} for key share`);
  if (!webhook) return "webhook_not_found";
  return webhook.state === "active" ? undefined : "webhook_undeliverable";
}

/** One that is under way just now is left to its writer: it arrives, or is tried again. */
const anew = sql`state = 'pending', failures = 0, next_attempt_at = now()`;

/** Schedules a delivery once more, from the beginning of its schedule. Idempotent until it is taken up. */
export function replayDelivery(
  db: Database,
  owner: Owner,
  { webhookId, deliveryId }: { webhookId: number; deliveryId: number },
): Promise<ReplayHindrance | undefined> {
  return db.transaction(async (tx) => {
    await holdOutbox(tx, owner.chain);
    const hindrance = await holdActive(tx, owner, webhookId);
    if (hindrance) return hindrance;
    const [delivery] = await tx.execute<{ test: boolean; reverted: boolean }>(sql`
      select d.test, e.reverted_at is not null as reverted
      from service.delivery d join service.event e on e.seq = d.event_seq
      where d.id = ${deliveryId} and d.webhook_id = ${webhookId}`);
    if (!delivery) return "delivery_not_found";
    if (delivery.test) return "is_test";
    if (delivery.reverted) return "event_reverted";
    await tx.execute(sql`update service.delivery set ${anew} where id = ${deliveryId} and taken_at is null`);
    return undefined;
  });
}

/** Number of the event behind which those lie that were recorded from `since` on; undefined when there are none. */
export async function eventBefore(db: Database, since: Date): Promise<string | undefined> {
  const [first] = await db.execute<{ before: string }>(sql`
    select seq - 1 as before from service.event where created_at >= ${since.toISOString()}::timestamptz
    order by created_at, seq limit 1`);
  return first?.before;
}

/** A round of a replay of what was recorded from `since` on, behind `after`. `next`: where the next one begins. */
export function replayRound(
  db: Database,
  owner: Owner,
  { webhookId, since, after }: { webhookId: number; since: Date; after: string },
): Promise<{ hindrance: ReplayHindrance } | { scheduled: number; next: string | undefined }> {
  return db.transaction(async (tx) => {
    await holdOutbox(tx, owner.chain);
    const hindrance = await holdActive(tx, owner, webhookId);
    if (hindrance) return { hindrance };
    const from = sql`e.created_at >= ${since.toISOString()}::timestamptz`;
    const [round] = await tx.execute<Omit<Round, "added">>(sql`
      with found as (${itsEvents(webhookId, after, from)}),
      sent as (
        insert into service.delivery (webhook_id, event_seq) select ${webhookId}::bigint, seq from found order by seq
        on conflict (webhook_id, event_seq) do update set ${anew} where delivery.taken_at is null)
      select count(*)::int as found, max(seq) as last from found`);
    const { found = 0, last = null } = round ?? {};
    return { scheduled: found, next: found < ROUND ? undefined : (last ?? undefined) };
  });
}
