import type { Sql } from "postgres";
import type { Address } from "viem";

/**
 * A wallet's counts of transactions: those that the node has mined, and those with the ones in its pool. Null: not asked for now.
 */
export type WalletCounts = { address: Address; mined: number | null; pooled: number | null };

/**
 * Those of the wallets that the recovery has to look at: with open or unknown transactions, or a ledger that lacks nonces of the
 * chain, or has final transactions that the chain lacks.
 *
 * @param counts read before this call: the ledger's only rise.
 */
export async function busyWallets(
  sql: Sql,
  chainId: number,
  counts: readonly WalletCounts[],
): Promise<Set<Address>> {
  // The order makes Postgres use the index of nonces.
  const rows = await sql<{ address: Address }[]>`
    select w.address
    from json_to_recordset(${JSON.stringify(counts)}::text::json) as c (address text, mined bigint, pooled bigint)
    join service.relayer_wallet w on w.chain_id = ${chainId} and w.address = c.address
    where w.unknown_below is not null or c.pooled > w.next_nonce
      or exists (select 1 from service.transactions_from(w.chain_id, w.address, w.open_from) t where t.state = 'open')
      or (select true from service.transaction t
        where t.chain_id = ${chainId} and t.wallet = w.address and t.nonce >= c.mined and t.state = 'final'
        order by t.nonce limit 1)`;
  return new Set(rows.map(({ address }) => address));
}
