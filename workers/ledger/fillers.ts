import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { Call } from "./assign-nonces.ts";
import { type Lease, leaseHeld } from "./leases.ts";

/**
 * SQL of what follows a start of the server: commits may have been lost before, by a failover, a restore, or a copy of the files that
 * was put back. A lost transaction may still live in a pool that answers to nobody. So a wallet's writer gives its next nonces to empty
 * transfers, the fence, and the wallet gets others only once these are mined, or something else has their nonces. Until each wallet is
 * fenced, or compared with the chain where it cannot be, no wallet of the chain gets nonces; a keeper's waits for its own only.
 */

/** The nonces of a fence: as many transactions of one account a node's pool keeps for sure (`accountslots` of go-ethereum). */
export const FENCE = 16;

/** SQL condition on a wallet `u` of the chain: it is to be compared. */
export const isUncompared = (sql: ISql, chainId: number) =>
  sql`u.address in (select address from service.uncompared_wallets(${chainId}))`;

/**
 * A wallet without a complete fence since the start of the server `server`. `placed`: its fence is not mined yet, and
 * the wallet is held by a writer and not stopped; `compared`: it need not hold others up any more; `stopped`: by what stop, if any,
 * it may send nothing.
 */
export type UnfencedWallet = {
  address: Address;
  server: string;
  placed: boolean;
  compared: boolean;
  stopped: string | null;
};

/** SQL condition on a wallet: its fence was placed since the start of the server, and its writer goes on with it. */
const isBeingFenced = (sql: ISql) => sql`(
  fence_with is not distinct from pg_postmaster_start_time() and lease_until > now() and service.stopped_by(address, null) is null)`;

/** Reads the wallets of a chain that have no fence, or one with a nonce that is not mined. */
export const unfencedWallets = (sql: Sql, chainId: number): Promise<UnfencedWallet[]> =>
  sql<UnfencedWallet[]>`
    select address, pg_postmaster_start_time()::text as server, service.stopped_by(address, null) as stopped,
      ${isBeingFenced(sql)} as placed,
      address not in (select address from service.uncompared_wallets(${chainId})) as compared
    from service.relayer_wallet
    where chain_id = ${chainId} and next_nonce is not null and fenced_with is distinct from pg_postmaster_start_time()`;

/** A filler without bytes. `id`: the transaction's. */
type Filler = { id: number; nonce: number };

/** Gives a wallet's next nonces to empty transfers. Does nothing without the lease, or where it was done since the server was started. */
export async function placeFence(sql: Sql, lease: Lease, { to, data, gasLimit }: Call): Promise<Filler[]> {
  const rows = await sql<{ id: string; nonce: string }[]>`
    with wallet as (
      update service.relayer_wallet
      set fence_with = pg_postmaster_start_time(), fence_from = greatest(next_nonce, unknown_below),
        fence_below = greatest(next_nonce, unknown_below) + ${FENCE}, next_nonce = greatest(next_nonce, unknown_below) + ${FENCE}
      where ${leaseHeld(sql, lease)} and next_nonce is not null and fence_with is distinct from pg_postmaster_start_time()
      returning chain_id, address, fence_from, fence_below
    )
    insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit)
    select chain_id, address, n, 'filler', ${to}, ${data}, ${String(gasLimit)}::bigint
    from wallet, generate_series(fence_from, fence_below - 1) n
    returning id, nonce`;
  return rows.map(({ id, nonce }) => ({ id: Number(id), nonce: Number(nonce) }));
}

/** Marks wallets as fenced once each nonce of their fence is mined, by an empty transfer or another transaction. */
export async function noteFenced(sql: Sql, chainId: number): Promise<void> {
  await sql`
    update service.relayer_wallet w set fenced_with = fence_with, compared_with = fence_with
    where w.chain_id = ${chainId} and w.fence_with = pg_postmaster_start_time() and w.fenced_with is distinct from w.fence_with
      and not exists (
        select 1 from service.transaction t where t.chain_id = w.chain_id and t.wallet = w.address
          and t.nonce >= w.fence_from and t.nonce < w.fence_below and t.state = 'open')`;
}

/** Notes that a wallet without a fence was compared, unless another server has taken over since it was asked for, or a writer fences it. */
export async function noteCompared(
  sql: Sql,
  chainId: number,
  { address, server }: Pick<UnfencedWallet, "address" | "server">,
): Promise<void> {
  await sql`
    update service.relayer_wallet set compared_with = pg_postmaster_start_time()
    where chain_id = ${chainId} and address = ${address} and pg_postmaster_start_time()::text = ${server} and not ${isBeingFenced(sql)}`;
}

// Fillers: empty transfers of a wallet to itself, which close nonce gaps.

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
