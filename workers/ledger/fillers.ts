import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import type { Call } from "./assign-nonces.ts";
import { type Lease, leaseHeld } from "./leases.ts";

/** SQL of fillers: empty transfers of a wallet to itself, which close nonce gaps. */

/** Nonces from `first` up to the wallet's next nonce that have no row in the ledger; at most 100. */
export async function nonceGaps(
  sql: Sql,
  chainId: number,
  wallet: Address,
  first: number,
): Promise<number[]> {
  const rows = await sql<{ nonce: string }[]>`
    select n as nonce from service.relayer_wallet w,
      generate_series(${first}::bigint, least(w.next_nonce - 1, ${first}::bigint + 99)) n
    where w.chain_id = ${chainId} and w.address = ${wallet} and not exists (
      select 1 from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n)`;
  return rows.map((row) => Number(row.nonce));
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
