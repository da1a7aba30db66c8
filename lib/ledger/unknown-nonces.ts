import type { ISql } from "postgres";
import type { Address } from "viem";

/** A nonce that a wallet of the service has used for a transaction that the ledger does not know; `since` when it was found. */
export type UnknownNonce = { wallet: Address; nonce: number; since: Date };

/** The unknown nonces of a chain's wallets, lowest first; at most 1,000. */
export async function unknownNonces(sql: ISql, chainId: number): Promise<UnknownNonce[]> {
  return sql<UnknownNonce[]>`
    select w.address as wallet, n::float8 as nonce, w.unknown_since as since
    from service.relayer_wallet w cross join lateral generate_series(w.unknown_from, w.unknown_below - 1) n
    where w.chain_id = ${chainId} and not exists (
      select 1 from service.transaction t where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n)
    order by 1, 2 limit 1000`;
}
