import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import type { Call } from "./assign-nonces.ts";
import { type Lease, leaseHeld } from "./leases.ts";

/**
 * SQL of wallets that nobody has compared with the chain since this server was started: commits may have been lost before, by a failover, a
 * restore, or a copy of the files that was put back. Until all are, no wallet of the chain gets a nonce; a keeper's waits for its own only.
 *
 * A lost transaction may still live in a pool that answers to nobody. So a wallet's writer first gives its next nonces to empty transfers:
 * the fence. Once they are mined, or something else has their nonces, the chain itself has told all that was lost.
 */

/** The nonces of a fence: as many transactions of one account a node's pool keeps for sure (`accountslots` of go-ethereum). */
export const FENCE = 16;

/** SQL condition on a wallet `u` of the chain: it is to be compared. */
export const isUncompared = (sql: ISql, chainId: number) =>
  sql`u.address in (select address from service.uncompared_wallets(${chainId}))`;

/** A wallet that is to be compared since the start of the server `server`; `held`: a writer has its lease; `halted`: it may send nothing. */
export type UncomparedWallet = { address: Address; server: string; held: boolean; halted: boolean };

export const uncomparedWallets = (sql: Sql, chainId: number): Promise<UncomparedWallet[]> =>
  sql<UncomparedWallet[]>`
    select address, pg_postmaster_start_time()::text as server, coalesce(lease_until > now(), false) as held,
      service.stopped_by(address, null) is not null as halted
    from service.uncompared_wallets(${chainId})`;

/** A filler without bytes. `id`: the transaction's. */
export type Filler = { id: number; nonce: number };

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

/** Notes the wallets whose fence is mined, or whose nonces in it something else has, as compared. */
export async function noteFenced(sql: Sql, chainId: number): Promise<void> {
  await sql`
    update service.relayer_wallet w set compared_with = fence_with
    where w.chain_id = ${chainId} and w.fence_with = pg_postmaster_start_time() and w.compared_with is distinct from w.fence_with
      and not exists (
        select 1 from service.transaction t where t.chain_id = w.chain_id and t.wallet = w.address
          and t.nonce >= w.fence_from and t.nonce < w.fence_below and t.state = 'open')`;
}

/** The block of the newest fence of the chain that is mined: it is later than all that was lost. */
export async function fencedBlock(sql: Sql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ block: string | null }[]>`
    select max(t.block_number) as block
    from service.relayer_wallet w join service.transaction t
      on t.chain_id = w.chain_id and t.wallet = w.address and t.nonce >= w.fence_from and t.nonce < w.fence_below
    where w.chain_id = ${chainId} and w.fence_with = pg_postmaster_start_time() and w.compared_with = w.fence_with`;
  return row?.block == null ? undefined : BigInt(row.block);
}

/** Notes that a wallet was compared, unless another server has taken over since it was asked for. */
export async function noteCompared(
  sql: Sql,
  chainId: number,
  { address, server }: Pick<UncomparedWallet, "address" | "server">,
): Promise<void> {
  await sql`
    update service.relayer_wallet set compared_with = pg_postmaster_start_time()
    where chain_id = ${chainId} and address = ${address} and pg_postmaster_start_time()::text = ${server}`;
}
