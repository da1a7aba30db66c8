import type { ISql, Sql, TransactionSql } from "postgres";
import { beginWith } from "../../lib/db/connect.ts";
import { lockOutbox } from "../../lib/webhooks/outbox-lock.ts";
import { STATEMENT_MS } from "./context.ts";
import { createDeliveries, type NumberedEvent } from "./create-deliveries.ts";
import { type EventRow, eventRow, isForAnyWallet, reversalRow, type StoredEvent } from "./event.ts";
import type { Plan } from "./plan-events.ts";
import type { Cursor, Taken } from "./progress.ts";

type NewCursor = Omit<Cursor, "version">;

/** Moves the cursor, unless another writer has moved it since it was read. */
async function moveCursor(sql: ISql, chainId: number, from: Cursor, to: NewCursor): Promise<boolean> {
  const { taken } = to;
  const rows = await sql`
    update service.outbox
    set version = version + 1, final_block = ${String(to.finalBlock)}::bigint,
      final_time = ${String(to.finalTime)}::bigint, processed_block = ${String(to.processedBlock)}::bigint,
      taken_block = ${taken ? String(taken.block.number) : null}::bigint, taken_hash = ${taken?.block.hash ?? null},
      taken_time = ${taken ? String(taken.block.timestamp) : null}::bigint, taken_build = ${taken?.build ?? null}
    where chain_id = ${chainId} and version = ${from.version}::bigint
    returning version`;
  return rows.length > 0;
}

/**
 * Marks events as reverted and cancels their pending deliveries. Those of an event for any wallet may be very many: its reversal
 * cancels them in batches, and no more of them are created.
 * @returns the `seq` of each event that a subscriber may have received.
 */
async function revertEvents(
  tx: TransactionSql,
  reverted: readonly StoredEvent[],
): Promise<ReadonlySet<string>> {
  const all = reverted.map(({ seq }) => seq);
  const many = reverted.filter(({ type }) => isForAnyWallet(type)).map(({ seq }) => seq);
  await tx`update service.event set reverted_at = now() where seq = any(${all}::text[]::bigint[]) and reverted_at is null`;
  await tx`delete from service.fan_out where event_seq = any(${many}::text[]::bigint[])`;
  const events = tx`any(${all.filter((seq) => !many.includes(seq))}::text[]::bigint[])`;
  // Every transaction locks subscriptions before their deliveries.
  await tx`
    select id from service.webhook where id in (select webhook_id from service.delivery where event_seq = ${events})
    order by id for key share`;
  await tx`
    update service.delivery d set state = 'cancelled'
    from (
      select id from service.delivery where event_seq = ${events} and state = 'pending'
      order by webhook_id, event_seq for update) pending
    where d.id = pending.id`;
  const sent = await tx<{ seq: string }[]>`
    select distinct event_seq::text as seq from service.delivery
    where event_seq = ${events} and service.may_know(webhook_id, event_seq)`;
  return new Set([...many, ...sent.map(({ seq }) => seq)]);
}

/**
 * Stores events in the given order; their `seq` rises in this order. Those of a purchase's transaction get the purchase's trace: the
 * ledger has stored the transaction's hash before it was sent, unless it has lost commits. Events for any wallet get none, because they reach strangers.
 */
async function insertEvents(
  tx: TransactionSql,
  chainId: number,
  rows: readonly EventRow[],
): Promise<NumberedEvent[]> {
  const stored = await tx<{ seq: string; id: string }[]>`
    insert into service.event
      (chain_id, id, key, occurrence, type, block_number, block_hash, tx_hash, log_index, parties, body, reverts, traceparent)
    select ${chainId}, t.id, t.key, t.occurrence, t.type, t.block_number, t.block_hash, t.tx_hash, t.log_index, t.parties,
      t.body, t.reverts, case when not t."forAnyWallet" then (
        select p.traceparent from service.attempt a join service.transaction x on x.id = a.transaction_id
          join service.purchase_trace p on p.purchase_id = x.intent
        where a.hash = t.tx_hash) end
    from rows from (json_to_recordset(${JSON.stringify(rows)}::text::json) as (
      id text, key text, occurrence integer, type text, block_number bigint, block_hash text, tx_hash text,
      log_index integer, parties text[], body text, reverts bigint, "forAnyWallet" boolean)) with ordinality t
    order by t.ordinality
    returning seq::text, id`;
  const seqs = new Map(stored.map(({ id, seq }) => [id, seq]));
  return rows.flatMap((row) => {
    const seq = seqs.get(row.id);
    return seq === undefined ? [] : [{ ...row, seq }];
  });
}

/**
 * Writes a plan in one transaction: reversals, then new events, a delivery for each subscription to them, and the cursor. Those
 * for any wallet are left to the fan-out.
 *
 * @returns the subscriptions with new deliveries; undefined when another writer was first and nothing was written.
 */
export async function storeEvents(
  sql: Sql,
  chainId: number,
  {
    cursor,
    plan,
    finalTime,
    taken,
  }: { cursor: Cursor; plan: Plan; finalTime: bigint; taken: Taken | undefined },
): Promise<string[] | undefined> {
  const { reverted, events, finalBlock, processedBlock } = plan;
  const to = { finalBlock, finalTime, processedBlock, taken };
  if (reverted.length + events.length === 0) {
    return (await moveCursor(sql, chainId, cursor, to)) ? [] : undefined;
  }
  return beginWith(sql, { statement_timeout: `${STATEMENT_MS}ms` }, async (tx) => {
    await lockOutbox(tx, chainId);
    if (!(await moveCursor(tx, chainId, cursor, to))) return undefined;
    const vanished = reverted.map(({ event }) => event);
    const sent = vanished.length > 0 ? await revertEvents(tx, vanished) : new Set();
    const rows = [
      ...reverted
        .filter(({ event }) => sent.has(event.seq))
        .map(({ event, canonicalBlockHash }) => reversalRow(chainId, event, canonicalBlockHash)),
      ...events.map((event) => eventRow(chainId, event)),
    ];
    return rows.length > 0 ? createDeliveries(tx, await insertEvents(tx, chainId, rows)) : [];
  });
}

/** Stores the first cursor of a chain, unless another writer already has. */
export async function insertCursor(
  sql: Sql,
  chainId: number,
  cursor: Omit<NewCursor, "taken">,
): Promise<void> {
  await sql`
    insert into service.outbox (chain_id, final_block, final_time, processed_block)
    values (${chainId}, ${String(cursor.finalBlock)}::bigint, ${String(cursor.finalTime)}::bigint,
      ${String(cursor.processedBlock)}::bigint)
    on conflict do nothing`;
}

/** The lowest `from_block` of the chain's subscriptions; undefined without subscriptions. */
export async function oldestSubscription(sql: Sql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ block: string | null }[]>`
    select min(from_block)::text as block from service.webhook
    where chain_id = ${chainId} and state <> 'deleted'`;
  return row?.block == null ? undefined : BigInt(row.block);
}
