import type { Fragment, ISql, Sql } from "postgres";
import type { Hex } from "viem";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";

/** A signed transaction; fees in wei per gas. */
export type Signed = { hash: Hex; bytes: Hex; maxFee: bigint; priorityFee: bigint };

/** A signed form of an open transaction. `cancels`: it is the empty transfer that replaces the call. */
export type Form = {
  transactionId: number;
  signed: Signed;
  cancels: boolean;
  /** The most that its gas may cost, in wei. */
  cost: bigint;
};

/** What the operator's stops forbid to send: everything, a relayer's wallet, or purchases of a key or of its wallet; not cancellations. */
const isStopped = (sql: ISql, transaction: Fragment, cancels: Fragment) => sql`(
  exists (select from service.stop) and exists (
    select from service.transaction t left join service.permit m on m.id = t.intent
    left join service.purchase p on p.id = coalesce(m.purchase_id, t.intent)
    where t.id = ${transaction} and (
      service.stopped_by(t.wallet, null) is not null
      or (p.id is not null and not ${cancels} and service.stopped_by(p.wallet, p.key_id) is not null))))`;

/**
 * Stores signed forms, before they are sent: the first of a nonce, the same call at a higher fee, or a cancellation.
 *
 * @returns the hashes that were stored, and whether they may be sent: not those of transactions that are no longer open, nor of forms
 * that are stored already.
 * @throws LeaseLost with nothing stored.
 */
export async function storeForms(
  sql: Sql,
  lease: Lease,
  forms: readonly Form[],
): Promise<ReadonlyMap<Hex, { stopped: boolean }>> {
  const input = forms.map(({ transactionId, signed, cancels, cost }, n) => ({
    n,
    transaction_id: transactionId,
    hash: signed.hash,
    signed: signed.bytes,
    max_fee: String(signed.maxFee),
    priority_fee: String(signed.priorityFee),
    cancels,
    cost: String(cost),
  }));
  const [row] = await sql<{ held: boolean; stored: { hash: Hex; stopped: boolean }[] }[]>`
    with held as materialized (select from service.relayer_wallet where ${leaseHeld(sql, lease)} for share),
    forms as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as f (
        n int, transaction_id bigint, hash text, signed text, max_fee numeric, priority_fee numeric, cancels boolean,
        cost numeric)
    ), open as (
      select t.id, t.gas_reserved from held, service.transaction t join forms on forms.transaction_id = t.id
      where t.state = 'open' and t.chain_id = ${lease.chainId} and t.wallet = ${lease.address} order by t.id for update of t
    ), costlier as (
      update service.transaction t set gas_reserved = forms.cost from forms join open on open.id = forms.transaction_id
      where t.id = open.id and forms.cost > open.gas_reserved
    ), stored as (
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token, cancels)
      select f.hash, open.id, f.signed, f.max_fee, f.priority_fee, ${lease.token}::bigint, f.cancels
      from forms f join open on open.id = f.transaction_id order by f.n
      on conflict (hash) do nothing returning hash, transaction_id, cancels
    )
    select exists (select from held) as held, (
      select coalesce(json_agg(json_build_object(
        'hash', hash, 'stopped', ${isStopped(sql, sql`stored.transaction_id`, sql`stored.cancels`)})), '[]')
      from stored) as stored`;
  if (!row?.held) throw new LeaseLost(lease);
  return new Map(row.stored.map(({ hash, stopped }) => [hash, { stopped }]));
}

/** A broadcast of a form. A failed one does not undo that a node took the form at an earlier one. */
export type Sent = { hash: Hex; taken: boolean; again: boolean };

/** Notes broadcasts. The first one of a form that a node accepts is not noted: a stored form counts as sent. */
export async function noteSent(sql: Sql, sent: readonly Sent[]): Promise<void> {
  if (sent.length === 0) return;
  const hashes = sent.map(({ hash }) => hash);
  const taken = sent.flatMap((one) => (one.taken ? [one.hash] : []));
  const failed = sent.flatMap((one) => (one.taken || one.again ? [] : [one.hash]));
  await sql`
    update service.attempt set last_broadcast_at = now(), untaken = case
      when hash = any(${taken}::text[]) then false when hash = any(${failed}::text[]) then true else untaken end
    where hash = any(${hashes}::text[])`;
}

/** Those of the signed transactions that may not be sent: the operator has stopped them, or the database has lost them. */
export async function withheldHashes(sql: Sql, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>> {
  const rows = await sql<{ hash: Hex }[]>`
    select seen.hash from unnest(${[...hashes]}::text[]) as seen (hash)
    left join service.attempt a on a.hash = seen.hash
    where a.hash is null or ${isStopped(sql, sql`a.transaction_id`, sql`a.cancels`)}`;
  return new Set(rows.map((row) => row.hash));
}
