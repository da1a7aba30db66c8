import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { holds, type Lease, LeaseLost } from "./leases.ts";

/** What a transaction does; `gasLimit` in gas. */
export type Call = { to: Address; data: Hex; gasLimit: bigint };
/** A signed transaction; fees in wei per gas. */
export type Signed = { hash: Hex; bytes: Hex; maxFee: bigint; priorityFee: bigint };
export type Sign = (nonce: number, call: Call) => Promise<Signed>;
export type SignedPurchase = { id: string; nonce: number; signed: Signed };

/** An intent that was not signed within this time is not signed any more: its client has long been told to go on. */
export const SIGN_WITHIN_SECONDS = 60;

async function takeNonces(sql: TransactionSql, lease: Lease, count: number): Promise<number> {
  const [row] = await sql<{ first: string }[]>`
    update service.relayer_wallet set next_nonce = next_nonce + ${count}
    where ${holds(sql, lease)} and next_nonce is not null
    returning next_nonce - ${count} as first`;
  if (!row) throw new LeaseLost(lease);
  return Number(row.first);
}

/**
 * Gives each purchase a nonce, signs it and stores the bytes, all in one transaction: there is never a nonce without its
 * row, nor a row without its bytes. The fencing token is checked by the statement that takes the nonces, and the lock on
 * the wallet's row then keeps it until the bytes are stored. Purchases that somebody else has moved on, or that are too
 * old, are left out of the result. Throws {@link LeaseLost}.
 */
export async function signPurchases(
  sql: Sql,
  lease: Lease,
  calls: ReadonlyMap<string, Call>,
  sign: Sign,
): Promise<SignedPurchase[]> {
  return sql.begin(async (tx) => {
    const waiting = await tx<{ id: string }[]>`
      select id from service.purchase
      where id in ${tx([...calls.keys()])} and state = 'accepted' and chain_id = ${lease.chainId}
        and created_at > now() - make_interval(secs => ${SIGN_WITHIN_SECONDS})
      order by created_at, id for update skip locked`;
    if (waiting.length === 0) return [];
    const first = await takeNonces(tx, lease, waiting.length);
    const done: (SignedPurchase & { call: Call })[] = [];
    for (const [offset, { id }] of waiting.entries()) {
      const call = calls.get(id);
      if (!call) throw new Error(`purchase ${id} was not asked for`);
      const nonce = first + offset;
      done.push({ id, nonce, call, signed: await sign(nonce, call) });
    }
    const rows = done.map(({ id, nonce, call: { to, data, gasLimit }, signed }) => ({
      purchase_id: id,
      nonce,
      to,
      data,
      gas_limit: String(gasLimit),
      hash: signed.hash,
      signed: signed.bytes,
      max_fee: String(signed.maxFee),
      priority_fee: String(signed.priorityFee),
    }));
    await tx`
      with input as (
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as t (
          purchase_id uuid, nonce bigint, "to" text, data text, gas_limit bigint, hash text, signed text,
          max_fee numeric, priority_fee numeric)
      ), stored as (
        insert into service.transaction (chain_id, wallet, nonce, kind, purchase_id, "to", data, gas_limit)
        select ${lease.chainId}::integer, ${lease.address}::text, nonce, 'purchase', purchase_id, "to", data, gas_limit from input
        returning id, purchase_id
      ), attempts as (
        insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
        select hash, stored.id, signed, max_fee, priority_fee, ${lease.token}::bigint from input join stored using (purchase_id)
      )
      update service.purchase p set state = 'signed', tx_hash = input.hash, updated_at = now()
      from input where p.id = input.purchase_id`;
    return done.map(({ id, nonce, signed }) => ({ id, nonce, signed }));
  });
}

/**
 * Stores another signed form of the same nonce and call, at a higher fee. Throws {@link LeaseLost}; false when the
 * transaction is no longer open.
 */
export async function storeBump(
  sql: Sql,
  lease: Lease,
  transactionId: number,
  signed: Signed,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const held = await tx`select 1 from service.relayer_wallet where ${holds(tx, lease)} for share`;
    if (held.length === 0) throw new LeaseLost(lease);
    const stored = await tx`
      with open as (
        select id, purchase_id from service.transaction
        where id = ${transactionId} and state = 'open' and wallet = ${lease.address} for update
      ), moved as (
        update service.purchase p set tx_hash = ${signed.hash}, updated_at = now()
        from open where p.id = open.purchase_id and p.state in ('signed', 'broadcast')
      )
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
      select ${signed.hash}::text, id, ${signed.bytes}::text, ${String(signed.maxFee)}::numeric,
        ${String(signed.priorityFee)}::numeric, ${lease.token}::bigint from open
      returning hash`;
    return stored.length > 0;
  });
}

/** Puts an empty transfer to the wallet itself on a nonce that no row has. Throws {@link LeaseLost}. */
export async function storeFiller(
  sql: Sql,
  lease: Lease,
  nonce: number,
  { call, signed }: { call: Call; signed: Signed },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const held = await tx`
      select 1 from service.relayer_wallet where ${holds(tx, lease)} and next_nonce > ${nonce} for share`;
    if (held.length === 0) throw new LeaseLost(lease);
    const stored = await tx`
      with stored as (
        insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
        values (${lease.chainId}, ${lease.address}, ${nonce}, 'filler', ${call.to}, ${call.data}, ${String(call.gasLimit)}::bigint)
        on conflict (chain_id, wallet, nonce) do nothing returning id
      )
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
      select ${signed.hash}::text, id, ${signed.bytes}::text, ${String(signed.maxFee)}::numeric,
        ${String(signed.priorityFee)}::numeric, ${lease.token}::bigint from stored
      returning hash`;
    return stored.length > 0;
  });
}

/** Notes that bytes were sent; a purchase whose bytes a node took is `broadcast`. */
export async function markSent(sql: Sql, sent: readonly { hash: Hex; accepted: boolean }[]): Promise<void> {
  if (sent.length === 0) return;
  const hashes = sent.map(({ hash }) => hash);
  const accepted = sent.flatMap((one) => (one.accepted ? [one.hash] : []));
  await sql`
    with noted as (
      update service.attempt set last_broadcast_at = now() where hash = any(${hashes}::text[])
      returning transaction_id, hash
    )
    update service.purchase p set state = 'broadcast', updated_at = now()
    from noted join service.transaction t on t.id = noted.transaction_id
    where noted.hash = any(${accepted}::text[]) and p.id = t.purchase_id and p.state = 'signed'`;
}
