import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import type { Call } from "./assign-nonces.ts";
import { type Lease, leaseHeld } from "./leases.ts";

/**
 * SQL of what follows a start of the server: commits may have been lost before, by a failover, a restore, or a copy of the files that was
 * put back. A lost transaction may still live in a pool that answers to nobody. So a wallet's writer gives its next nonces to empty
 * transfers, the fence, and the wallet gets others only once these are mined, or something else has their nonces. Until each wallet is fenced, or
 * compared with the chain where it cannot be, no wallet of the chain gets nonces; a keeper's waits for its own only.
 */

/** The nonces of a fence: as many transactions of one account a node's pool keeps for sure (`accountslots` of go-ethereum). */
export const FENCE = 16;

/** SQL condition on a wallet `u` of the chain: it is to be compared. */
export const isUncompared = (sql: ISql, chainId: number) =>
  sql`u.address in (select address from service.uncompared_wallets(${chainId}))`;

/**
 * A wallet without a complete fence since the start of the server `server`. `placed`: its fence is not mined yet; `compared`: it need not
 * hold others up any more; `stopped`: by what stop, if any, it may send nothing.
 */
export type UnfencedWallet = {
  address: Address;
  server: string;
  placed: boolean;
  compared: boolean;
  stopped: string | null;
};

/** The wallets of a chain whose fence is not complete. */
export const unfencedWallets = (sql: Sql, chainId: number): Promise<UnfencedWallet[]> =>
  sql<UnfencedWallet[]>`
    select address, pg_postmaster_start_time()::text as server, service.stopped_by(address, null) as stopped,
      fence_with is not distinct from pg_postmaster_start_time() as placed,
      address not in (select address from service.uncompared_wallets(${chainId})) as compared
    from service.relayer_wallet
    where chain_id = ${chainId} and next_nonce is not null and fenced_with is distinct from pg_postmaster_start_time()`;

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

/** Notes the wallets whose fence is complete: each of its nonces is mined, by an empty transfer or another transaction. */
export async function noteFenced(sql: Sql, chainId: number): Promise<void> {
  await sql`
    update service.relayer_wallet w set fenced_with = fence_with, compared_with = fence_with
    where w.chain_id = ${chainId} and w.fence_with = pg_postmaster_start_time() and w.fenced_with is distinct from w.fence_with
      and not exists (
        select 1 from service.transaction t where t.chain_id = w.chain_id and t.wallet = w.address
          and t.nonce >= w.fence_from and t.nonce < w.fence_below and t.state = 'open')`;
}

/** Notes that a wallet without a fence was compared, unless another server has taken over since it was asked for. */
export async function noteCompared(
  sql: Sql,
  chainId: number,
  { address, server }: Pick<UnfencedWallet, "address" | "server">,
): Promise<void> {
  await sql`
    update service.relayer_wallet set compared_with = pg_postmaster_start_time()
    where chain_id = ${chainId} and address = ${address} and pg_postmaster_start_time()::text = ${server}
      and fence_with is distinct from pg_postmaster_start_time()`;
}
