import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { Call } from "./assign-nonces.ts";
import { type Lease, leaseHeld } from "./leases.ts";

/** SQL of fillers: empty transfers of a wallet to itself, which close nonce gaps. */

/** A nonce whose ledger row, if there is one, can never be mined: `lostTo` is the transaction that took the nonce from it. */
export type NonceGap = { nonce: number; lostTo: Hex | null };

/**
 * Nonces among the 100 from `first` on, below the wallet's next one, that have no row in the ledger or a lost one. Those up to the
 * highest archived one are used, whatever the node says; unknown ones are no gaps.
 */
export async function nonceGaps(
  sql: Sql,
  chainId: number,
  wallet: Address,
  first: number,
): Promise<NonceGap[]> {
  const rows = await sql<{ nonce: string; lostTo: Hex | null }[]>`
    select n as nonce, t.lost_to as "lostTo" from service.relayer_wallet w
    cross join lateral (select greatest(${first}::bigint, (
      select max(a.nonce) + 1 from service.archived_nonce a
      where a.chain_id = w.chain_id and a.wallet = w.address)) as first) free
    cross join generate_series(free.first, least(w.next_nonce - 1, free.first + 99)) n
    left join lateral (
      select t.id, t.lost_to from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n limit 1) t on true
    where w.chain_id = ${chainId} and w.address = ${wallet} and (t.id is null or t.lost_to is not null)
      and not coalesce(n >= w.unknown_from and n < w.unknown_below, false)
    order by n`;
  return rows.map(({ nonce, lostTo }) => ({ nonce: Number(nonce), lostTo }));
}

/**
 * Deletes the lost rows of nonces that no block up to `head` holds any more, with their signed forms, which must never be sent. What
 * waits to be signed again keeps its row as the proof that it was signed once. Deletes none without the lease, and none for a node
 * that is behind the ledger.
 * @returns the nonces that have no row now.
 */
export async function deleteLost(
  sql: Sql,
  lease: Lease,
  nonces: readonly number[],
  head: bigint,
): Promise<number[]> {
  if (nonces.length === 0) return [];
  const rows = await sql<{ nonce: string }[]>`
    with held as (
      select chain_id, address from service.relayer_wallet where ${leaseHeld(sql, lease)}
    ), lost as (
      select t.id from held join service.transaction t on t.chain_id = held.chain_id and t.wallet = held.address
      where t.nonce = any(${nonces.map(String)}::text[]::bigint[]) and t.lost_to is not null
        and not exists (select 1 from service.waiting w where w.intent = t.intent)
        and exists (
          select 1 from service.watched_block b
          where b.chain_id = held.chain_id and b.number <= ${String(head)}::bigint)
      for update of t
    ), forms as (
      delete from service.attempt a using lost where a.transaction_id = lost.id
    )
    delete from service.transaction t using lost where t.id = lost.id returning t.nonce`;
  return rows.map(({ nonce }) => Number(nonce));
}

/**
 * Stores fillers for nonces below the wallet's next one; the recovery signs them. A nonce that has a row by now is left
 * out, and none is stored without the lease. A gap may lie below the final transactions: its filler is watched again.
 */
export async function storeFillers(
  sql: ISql,
  lease: Lease,
  nonces: readonly number[],
  { to, data, gasLimit }: Call,
): Promise<void> {
  if (nonces.length === 0) return;
  await sql`
    with w as (
      update service.relayer_wallet
      set open_from = least(open_from, ${Math.min(...nonces)}), final_below = least(final_below, ${Math.min(...nonces)})
      where ${leaseHeld(sql, lease)} returning *
    )
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
    select w.chain_id, w.address, n, 'filler', ${to}, ${data}, ${String(gasLimit)}::bigint
    from w, unnest(${nonces.map(String)}::text[]::bigint[]) n
    where n < w.next_nonce
    on conflict (chain_id, wallet, nonce) do nothing`;
}
