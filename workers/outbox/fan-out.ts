/**
 * Deliveries of events that any wallet's subscription may receive: burns and their reversals. They are created in batches, in
 * the order of the subscriptions' ids. A batch and its place in `service.fan_out` are one transaction, so a writer that dies
 * leaves each subscription with its delivery or still to come. Claims keep the order of events meanwhile.
 */
import type { Sql, TransactionSql } from "postgres";
import { beginWith } from "../../lib/db/connect.ts";
import { lockOutbox } from "../../lib/webhooks/outbox-lock.ts";
import { type OutboxContext, STATEMENT_MS } from "./context.ts";

/** Deliveries in one batch: its transaction takes a tenth of a second. */
const BATCH_DELIVERIES = 2000;
/** Events that one batch creates deliveries of. */
const BATCH_EVENTS = 100;

type OpenEvent = { readonly seq: string; readonly reverts: string | null; readonly reached: string };

/** The oldest open events that have reached the same subscription. Their receivers are the same, so they go on together. */
async function nextEvents(tx: TransactionSql, chainId: number): Promise<OpenEvent[]> {
  const open = await tx<OpenEvent[]>`
    select f.event_seq::text as seq, e.reverts::text, f.reached::text
    from service.fan_out f join service.event e on e.seq = f.event_seq
    where f.chain_id = ${chainId} order by f.event_seq limit ${BATCH_EVENTS}`;
  const other = open.findIndex(({ reached }) => reached !== open[0]?.reached);
  return other < 0 ? open : open.slice(0, other);
}

/** Cancels pending deliveries of reverted events: no claim takes them from now on. */
async function cancelDeliveries(tx: TransactionSql, webhooks: readonly string[], seqs: readonly string[]) {
  await tx`
    update service.delivery d set state = 'cancelled'
    from (
      select id from service.delivery
      where webhook_id = any(${[...webhooks]}::text[]::bigint[]) and event_seq = any(${[...seqs]}::text[]::bigint[])
        and state = 'pending'
      order by webhook_id, event_seq for update) pending
    where d.id = pending.id`;
}

/**
 * Creates the next batch of deliveries.
 *
 * @param limit the most deliveries of the batch, unless more events than this wait.
 * @returns the subscriptions with new deliveries; undefined when no event waits.
 */
export function createBatch(
  sql: Sql,
  chainId: number,
  limit = BATCH_DELIVERIES,
): Promise<string[] | undefined> {
  return beginWith(sql, { statement_timeout: `${STATEMENT_MS}ms` }, async (tx) => {
    await lockOutbox(tx, chainId);
    const events = await nextEvents(tx, chainId);
    const [first] = events;
    if (!first) return undefined;
    const size = Math.max(1, Math.floor(limit / events.length));
    const webhooks = await tx<{ id: string }[]>`
      select id::text from service.webhook
      where chain_id = ${chainId} and 'token_burned' = any (events) and state = 'active' and id > ${first.reached}::bigint
      order by webhook.id limit ${size} for key share`;
    const ids = webhooks.map(({ id }) => id);
    const seqs = tx`${events.map(({ seq }) => seq)}::text[]::bigint[]`;
    const reverted = events.flatMap(({ reverts }) => reverts ?? []);
    if (reverted.length > 0) await cancelDeliveries(tx, ids, reverted);
    const created = await tx<{ id: string }[]>`
      insert into service.delivery (webhook_id, event_seq)
      select w.id, e.seq from service.webhook w cross join service.event e
      where w.id = any(${ids}::text[]::bigint[]) and e.seq = any(${seqs}) and service.is_for(e, w)
      order by w.id, e.seq
      on conflict do nothing returning webhook_id::text as id`;
    const last = ids.at(-1);
    await (last === undefined || ids.length < size
      ? tx`delete from service.fan_out where event_seq = any(${seqs})`
      : tx`update service.fan_out set reached = ${last}::bigint where event_seq = any(${seqs})`);
    return [...new Set(created.map(({ id }) => id))];
  });
}

/**
 * Creates a batch, if any event waits for one. Between two batches the outbox stores new events, so that an event with very
 * many subscriptions delays no other wallet's.
 *
 * @returns whether another batch may follow.
 */
export async function fanOut({ sql, chainId, onDeliveries }: OutboxContext): Promise<boolean> {
  const open = await sql`select 1 from service.fan_out where chain_id = ${chainId} limit 1`;
  if (open.length === 0) return false;
  const webhookIds = await createBatch(sql, chainId);
  if (webhookIds && webhookIds.length > 0) onDeliveries(webhookIds);
  return webhookIds !== undefined;
}
