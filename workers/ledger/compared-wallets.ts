import type { ISql, Sql } from "postgres";
import type { Address } from "viem";

/**
 * SQL of wallets that nobody has compared with the chain since this server was started: commits may have been lost before, by a failover, a
 * restore, or a copy of the files that was put back. Until all are, no wallet of the chain gets a nonce; a keeper's waits for its own only.
 */

/** SQL condition on a wallet `u` of the chain: it is to be compared. */
export const isUncompared = (sql: ISql, chainId: number) =>
  sql`u.address in (select address from service.uncompared_wallets(${chainId}))`;

/** A wallet that is to be compared, and when the server that lacks the comparison was started. */
export type UncomparedWallet = { address: Address; server: string };

export const uncomparedWallets = (sql: Sql, chainId: number): Promise<UncomparedWallet[]> =>
  sql<UncomparedWallet[]>`
    select address, pg_postmaster_start_time()::text as server from service.uncompared_wallets(${chainId})`;

/** Notes that a wallet was compared, unless another server has taken over since it was asked for. */
export async function noteCompared(
  sql: Sql,
  chainId: number,
  { address, server }: UncomparedWallet,
): Promise<void> {
  await sql`
    insert into service.compared_wallet (chain_id, address)
    select ${chainId}::integer, ${address}::text where pg_postmaster_start_time()::text = ${server}
    on conflict (chain_id, address) do update set server = excluded.server`;
}
