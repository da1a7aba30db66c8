import type { ISql, Sql, TransactionSql } from "postgres";
import { outboxLock } from "../../lib/webhooks/outbox-lock.ts";
import { type EventRow, reversalOf, rowOf } from "./event.ts";
import type { Plan } from "./plan.ts";
import type { Cursor } from "./position.ts";

/**
 * The cursor moves on, if it stands where the pass has read it: of two writers' passes at the same moment one is written.
 */
async function moveCursor(sql: ISql, chainId: number, from: Cursor, to: NewCursor): Promise<boolean> {
  const rows = await sql`
    update service.outbox
    set pass = pass + 1, passed_at = now(), final_block = ${String(to.finalBlock)}::bigint,
      final_time = ${String(to.finalTime)}::bigint, passed_block = ${String(to.passedBlock)}::bigint
    where chain_id = ${chainId} and pass = ${from.pass}::bigint
    returning pass`;
  return rows.length > 0;
}

/**
 * Takes events back: what has not been sent of them never is.
 * @returns the numbers of those that somebody may have been sent.
 */
async function takeBack(tx: TransactionSql, seqs: readonly string[]): Promise<ReadonlySet<string>> {
  const events = tx`any(${[...seqs]}::text[]::bigint[])`;
  // Subscriptions are locked before their deliveries, here and everywhere.
  await tx`
    select id from service.webhook where id in (select webhook_id from service.delivery where event_seq = ${events})
    order by id for key share`;
  await tx`update service.event set reverted_at = now() where seq = ${events} and reverted_at is null`;
  await tx`
    update service.delivery d set state = 'cancelled'
    from (
      select id from service.delivery where event_seq = ${events} and state = 'pending'
      order by webhook_id, event_seq for update) pending
    where d.id = pending.id`;
  const told = await tx<{ seq: string }[]>`
    select distinct event_seq::text as seq from service.delivery
    where event_seq = ${events} and service.may_know(webhook_id, event_seq)`;
  return new Set(told.map(({ seq }) => seq));
}

/** An event with its number, a decimal. */
type Stored = EventRow & { readonly seq: string };

/** Stores events in the order given; their numbers rise in it. */
async function store(tx: TransactionSql, chainId: number, rows: readonly EventRow[]): Promise<Stored[]> {
  const stored = await tx<{ seq: string; id: string }[]>`
    insert into service.event
      (chain_id, id, key, occurrence, type, block_number, block_hash, tx_hash, log_index, parties, body, reverts)
    select ${chainId}, t.id, t.key, t.occurrence, t.type, t.block_number, t.block_hash, t.tx_hash, t.log_index, t.parties,
      t.body, t.reverts
    from rows from (json_to_recordset(${JSON.stringify(rows)}::text::json) as (
      id text, key text, occurrence integer, type text, block_number bigint, block_hash text, tx_hash text,
      log_index integer, parties text[], body text, reverts bigint)) with ordinality t
    order by t.ordinality
    returning seq::text, id`;
  const seqs = new Map(stored.map(({ id, seq }) => [id, seq]));
  return rows.flatMap((row) => {
    const seq = seqs.get(row.id);
    return seq === undefined ? [] : [{ ...row, seq }];
  });
}

/**
 * Puts events on their way to the subscriptions that they are for: found by the wallets, by the interest in burns, or by the
 * deliveries of what is taken back, and then by the one rule. Each look-up is a query of its own, which an index answers
 * whatever the statistics say of tables that have just grown.
 *
 * @returns the subscriptions' ids, each once.
 */
async function deliver(tx: TransactionSql, events: readonly Stored[]): Promise<string[]> {
  const own = events
    .filter(({ reverts }) => reverts === null)
    .flatMap(({ seq, parties }) => parties.map((wallet) => ({ seq, wallet })));
  const burns = events.filter(({ type }) => type === "token_burned");
  const reversals = events.filter(({ reverts }) => reverts !== null);
  const list = (items: readonly (string | null)[]) => tx`${items.map(String)}::text[]`;
  const rows = await tx<{ id: string }[]>`
    with candidate as (
      select w.id, p.seq
      from unnest(${list(own.map(({ seq }) => seq))}::bigint[], ${list(own.map(({ wallet }) => wallet))}) p (seq, wallet),
        lateral (select id from service.webhook where wallet = p.wallet and state = 'active' offset 0) w
      union all
      select w.id, p.seq
      from unnest(${list(burns.map(({ seq }) => seq))}::bigint[]) p (seq),
        lateral (
          select id from service.webhook
          where chain_id = (select chain_id from service.event e where e.seq = p.seq)
            and events && array['*', 'token_burned'] and state = 'active' offset 0) w
      union all
      select w.id, p.seq
      from unnest(${list(reversals.map(({ seq }) => seq))}::bigint[], ${list(reversals.map(({ reverts }) => reverts))}::bigint[])
          p (seq, reverts),
        lateral (select webhook_id from service.delivery where event_seq = p.reverts offset 0) d,
        lateral (select id from service.webhook where id = d.webhook_id and state = 'active' offset 0) w
    ), pair as materialized (
      select c.id, c.seq
      from candidate c, lateral (
        select from service.event e, service.webhook w
        where e.seq = c.seq and w.id = c.id and service.is_for(e, w) offset 0) fits
    ), here as materialized (
      select w.id
      from (select distinct id from pair order by id) p,
        lateral (select id from service.webhook where id = p.id for key share) w
    ), made as (
      insert into service.delivery (webhook_id, event_seq)
      select pair.id, pair.seq from pair join here using (id) order by pair.id, pair.seq
      on conflict do nothing
      returning webhook_id
    )
    select distinct webhook_id::text as id from made`;
  return rows.map(({ id }) => id);
}

type NewCursor = Omit<Cursor, "pass">;

/**
 * Writes a pass in one transaction: what is taken back, then what has happened, with a delivery for each subscription that
 * it concerns, and the cursor.
 *
 * @returns the subscriptions that have something to be delivered; undefined when another writer's pass came first, and
 * nothing was written.
 */
export async function writePass(
  sql: Sql,
  chainId: number,
  { cursor, plan, finalTime }: { cursor: Cursor; plan: Plan; finalTime: bigint },
): Promise<string[] | undefined> {
  const { reverted, events, finalBlock, passedBlock } = plan;
  const to = { finalBlock, finalTime, passedBlock };
  if (reverted.length + events.length === 0) {
    return (await moveCursor(sql, chainId, cursor, to)) ? [] : undefined;
  }
  return sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${outboxLock(chainId)}, 0))`;
    if (!(await moveCursor(tx, chainId, cursor, to))) return undefined;
    const seqs = reverted.map(({ event }) => event.seq);
    const told = seqs.length > 0 ? await takeBack(tx, seqs) : new Set();
    const rows = [
      ...reverted
        .filter(({ event }) => told.has(event.seq))
        .map(({ event, canonicalBlockHash }) => reversalOf(chainId, event, canonicalBlockHash)),
      ...events.map((event) => rowOf(chainId, event)),
    ];
    return rows.length > 0 ? deliver(tx, await store(tx, chainId, rows)) : [];
  });
}

/** The outbox begins; another writer may have begun it at the same moment. */
export async function begin(sql: Sql, chainId: number, cursor: NewCursor): Promise<void> {
  await sql`
    insert into service.outbox (chain_id, final_block, final_time, passed_block)
    values (${chainId}, ${String(cursor.finalBlock)}::bigint, ${String(cursor.finalTime)}::bigint,
      ${String(cursor.passedBlock)}::bigint)
    on conflict do nothing`;
}

/** The newest block that some subscription knew of already when it was made; undefined without subscriptions. */
export async function oldestSubscription(sql: Sql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ block: string | null }[]>`
    select min(from_block)::text as block from service.webhook
    where chain_id = ${chainId} and state <> 'deleted'`;
  return row?.block == null ? undefined : BigInt(row.block);
}
