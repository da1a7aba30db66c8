import type { Sql } from "postgres";
import { removeDeleted } from "./remove-deleted.ts";

/** Deletes old deliveries, old events without deliveries, and deleted subscriptions. Undelivered deliveries stay. */

/** Retention of deliveries and events, in days, which is also how far back a subscription can replay events. */
const KEPT_DAYS = 30;
/** Rows of one statement, so that none holds locks for long. */
const ROUND = 2000;

/** Deletes in rounds until nothing is left, or `stopping`. @returns the numbers of deleted rows. */
export async function prune(
  sql: Sql,
  { chainId, stopping = () => false }: { chainId: number; stopping?: () => boolean },
): Promise<{ deliveries: number; events: number }> {
  async function all(round: () => Promise<number>): Promise<number> {
    let total = 0;
    for (let deleted = ROUND; deleted > 0 && !stopping(); total += deleted) deleted = await round();
    return total;
  }
  const removed = await removeDeleted(sql, { chainId, stopping });
  const deliveries = removed + (await all(() => pruneDeliveries(sql, chainId)));
  const events = await pruneEvents(sql, chainId, stopping);
  return { deliveries, events };
}

async function pruneDeliveries(sql: Sql, chainId: number): Promise<number> {
  const { count } = await sql`
    delete from service.delivery where id in (
      select d.id from service.delivery d join service.webhook w on w.id = d.webhook_id
      where (d.state in ('delivered', 'cancelled') or d.test) and d.created_at < now() - make_interval(days => ${KEPT_DAYS})
        and w.chain_id = ${chainId}
      limit ${ROUND} for update of d skip locked)`;
  return count;
}

/** The last event of a round; the time in Postgres's text format, to the microsecond. */
type Reached = { readonly createdAt: string; readonly seq: string };

async function pruneEvents(sql: Sql, chainId: number, stopping: () => boolean): Promise<number> {
  let total = 0;
  let reached: Reached | null = { createdAt: "-infinity", seq: "0" };
  while (reached && !stopping()) {
    const round: EventsRound | undefined = await pruneEventsAfter(sql, chainId, reached);
    total += round?.deleted ?? 0;
    reached = round?.reached ?? null;
  }
  return total;
}

type EventsRound = { readonly deleted: number; readonly reached: Reached | null };

/**
 * Deletes a round of events after the last one, so that kept events are read once. It keeps events that may still be reverted,
 * and events with a reversal.
 */
async function pruneEventsAfter(sql: Sql, chainId: number, { createdAt, seq }: Reached) {
  const [round] = await sql<EventsRound[]>`
    with old as (
      select e.seq, e.created_at, e.block_number from service.event e
      where e.chain_id = ${chainId} and e.created_at < now() - make_interval(days => ${KEPT_DAYS})
        and (e.created_at, e.seq) > (${createdAt}::text::timestamptz, ${seq}::text::bigint)
      order by e.created_at, e.seq limit ${ROUND}
    ), deleted as (
      delete from service.event where seq in (
        select old.seq from old
        where (old.block_number is null
            or old.block_number <= (select o.final_block from service.outbox o where o.chain_id = ${chainId}))
          and not exists (select 1 from service.delivery d where d.event_seq = old.seq)
          and not exists (select 1 from service.event r where r.reverts = old.seq))
      returning 1
    )
    select (select count(*) from deleted)::int as deleted,
      (select json_build_object('createdAt', created_at::text, 'seq', seq::text) from old
        order by created_at desc, seq desc limit 1) as reached`;
  return round;
}
