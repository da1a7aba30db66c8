import type { Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "./tables.ts";

/**
 * What a wallet of the service has on its way; `oldest` in seconds, null while nothing is, `nextNonce` null before its first use,
 * `writer` the one that holds the lease, null when nobody does.
 */
export type WalletLoad = {
  chainId: number;
  wallet: Address;
  role: WalletRole;
  nextNonce: number | null;
  inFlight: number;
  oldest: number | null;
  writer: string | null;
};

/** The load of every wallet, in the order of their chains and addresses. */
export async function walletLoads(sql: Sql): Promise<WalletLoad[]> {
  return sql<WalletLoad[]>`
    select w.chain_id as "chainId", w.address as wallet, w.role, w.next_nonce::float8 as "nextNonce",
      count(t.id)::int as "inFlight", extract(epoch from now() - min(t.opened_at))::float8 as oldest,
      case when w.lease_until > now() then w.lease_owner end as writer
    from service.relayer_wallet w
    left join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address and t.state = 'open'
    group by w.chain_id, w.address order by w.chain_id, w.address`;
}

/** Purchases that nobody has signed yet; `oldest` in seconds, null when there are none. */
export type Waiting = { count: number; oldest: number | null };

export async function waitingPurchases(sql: Sql, chainId: number): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select count(*)::int as count, extract(epoch from now() - min(created_at))::float8 as oldest
    from service.purchase where state = 'accepted' and chain_id = ${chainId}`;
  return row ?? { count: 0, oldest: null };
}

/** Transactions among which the cost of a recent one is looked for. */
const RECENT = 200;

/** What the gas of a purchase cost of late, in wei, the mean of those seen in a block; undefined when there are none. */
export async function recentGasCost(sql: Sql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ cost: string | null }[]>`
    select trunc(avg(gas_cost))::text as cost from (
      select gas_cost from service.transaction
      where chain_id = ${chainId} and kind = 'purchase' and gas_cost is not null order by id desc limit ${RECENT}) recent`;
  return row?.cost ? BigInt(row.cost) : undefined;
}
