import type { TransactionSql } from "postgres";
import type { EventRow } from "./event.ts";

/** A stored event with its `seq`, a decimal. */
export type NumberedEvent = EventRow & { readonly seq: string };

/**
 * Creates a delivery of each event for each of its subscriptions; the events for any wallet are left to the fan-out. Candidates
 * are subscriptions of the event's wallets, and those with a delivery of a reverted event; `service.is_for` decides. Each
 * look-up is a lateral query that uses an index, also while Postgres has no statistics of tables that have just grown.
 *
 * @returns the subscriptions' ids without duplicates.
 */
export async function createDeliveries(
  tx: TransactionSql,
  events: readonly NumberedEvent[],
): Promise<string[]> {
  const fanOut = events.filter(({ forAnyWallet }) => forAnyWallet).map(({ seq }) => seq);
  if (fanOut.length > 0) {
    await tx`
      insert into service.fan_out (event_seq, chain_id)
      select seq, chain_id from service.event where seq = any(${fanOut}::text[]::bigint[])`;
  }
  const few = events.filter(({ forAnyWallet }) => !forAnyWallet);
  const ofWallets = few
    .filter(({ reverts }) => reverts === null)
    .flatMap(({ seq, parties }) => parties.map((wallet) => ({ seq, wallet })));
  const reversals = few.filter(({ reverts }) => reverts !== null);
  const list = (items: readonly (string | null)[]) => tx`${items.map(String)}::text[]`;
  const rows = await tx<{ id: string }[]>`
    with candidate as (
      select w.id, p.seq
      from unnest(${list(ofWallets.map(({ seq }) => seq))}::bigint[], ${list(ofWallets.map(({ wallet }) => wallet))}) p (seq, wallet),
        lateral (select id from service.webhook where wallet = p.wallet and state = 'active' offset 0) w
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
    ), existing as materialized (
      select w.id
      from (select distinct id from pair order by id) p,
        lateral (select id from service.webhook where id = p.id for key share) w
    ), created as (
      insert into service.delivery (webhook_id, event_seq)
      select pair.id, pair.seq from pair join existing using (id) order by pair.id, pair.seq
      on conflict do nothing
      returning webhook_id
    )
    select distinct webhook_id::text as id from created`;
  return rows.map(({ id }) => id);
}
