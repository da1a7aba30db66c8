import type { Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "../../lib/ledger/tables.ts";

/** What was spent on transactions that were signed since midnight UTC. Gas in wei, of transactions that are in a block; premiums in USDC base units (6 decimals). */

const today = (sql: Sql) => sql`(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')`;

export type WalletSpending = {
  chainId: number;
  wallet: Address;
  role: WalletRole;
  transactions: number;
  gas: bigint;
  /** What its transactions gave away beside their gas, in wei; one that reverted gave nothing. */
  given: bigint;
};

/** By the wallet that paid the gas. */
export async function spendingByWallet(sql: Sql): Promise<WalletSpending[]> {
  const rows = await sql<(Omit<WalletSpending, "gas" | "given"> & { gas: string; given: string })[]>`
    select w.chain_id as "chainId", w.address as wallet, w.role, count(*)::int as transactions, sum(t.gas_cost) as gas,
      sum(case when e.state in ('mined', 'confirmed') then t.value else 0 end) as given
    from service.relayer_wallet w
    join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address
    left join service.errand e on e.id = t.errand_id
    where t.created_at >= ${today(sql)} and t.gas_cost is not null
    group by w.chain_id, w.address order by 1, 2`;
  return rows.map((row) => ({ ...row, gas: BigInt(row.gas), given: BigInt(row.given) }));
}

/** `keyId` is a decimal; `wallet` the key's. */
export type KeySpending = {
  keyId: string;
  wallet: Address;
  label: string | null;
  purchases: number;
  reverted: number;
  gas: bigint;
  premiums: bigint;
};

/** By the key that asked for it, whoever costs most gas first. */
export async function spendingByKey(sql: Sql, limit: number): Promise<KeySpending[]> {
  const rows = await sql<(Omit<KeySpending, "gas" | "premiums"> & { gas: string; premiums: string })[]>`
    select p.key_id::text as "keyId", k.wallet, k.label, count(*)::int as purchases,
      (count(*) filter (where p.state = 'failed'))::int as reverted, sum(t.gas_cost) as gas,
      coalesce(sum(p.premium_paid), 0) as premiums
    from service.relayer_wallet w
    join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address
    join service.purchase p on p.id = t.purchase_id
    join service.api_key k on k.id = p.key_id
    where t.created_at >= ${today(sql)} and t.gas_cost is not null
    group by p.key_id, k.wallet, k.label order by sum(t.gas_cost) desc limit ${limit}`;
  return rows.map((row) => ({ ...row, gas: BigInt(row.gas), premiums: BigInt(row.premiums) }));
}
