/**
 * Sums the spending on transactions that were signed since midnight UTC and are in a block. Gas in wei, premiums in USDC
 * base units (6 decimals).
 */
import type { Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "../../lib/ledger/relayers.ts";

const today = (sql: Sql) => sql`(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')`;

export type WalletSpending = {
  chainId: number;
  wallet: Address;
  role: WalletRole;
  transactions: number;
  gas: bigint;
  /** The value that its transactions sent, in wei; reverted ones sent none. */
  given: bigint;
};

/** Spending by the wallet that paid the gas. */
export async function spendingByWallet(sql: Sql): Promise<WalletSpending[]> {
  const rows = await sql<(Omit<WalletSpending, "gas" | "given"> & { gas: string; given: string })[]>`
    select w.chain_id as "chainId", w.address as wallet, w.role, count(*)::int as transactions, sum(t.gas_cost) as gas,
      sum(case t.outcome when 'done' then t.value else 0 end) as given
    from service.relayer_wallet w
    join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address
    where t.created_at >= ${today(sql)} and t.gas_cost is not null
    group by w.chain_id, w.address order by 1, 2`;
  return rows.map((row) => ({ ...row, gas: BigInt(row.gas), given: BigInt(row.given) }));
}

/** `keyId` is a decimal; `wallet` is the key's wallet. */
export type KeySpending = {
  keyId: string;
  wallet: Address;
  label: string | null;
  purchases: number;
  reverted: number;
  gas: bigint;
  premiums: bigint;
};

/** Spending by API key, the highest gas cost first. */
export async function spendingByKey(sql: Sql, limit: number): Promise<KeySpending[]> {
  const rows = await sql<(Omit<KeySpending, "gas" | "premiums"> & { gas: string; premiums: string })[]>`
    select p.key_id::text as "keyId", k.wallet, k.label, count(*)::int as purchases,
      (count(*) filter (where t.outcome = 'reverted'))::int as reverted, sum(t.gas_cost) as gas,
      coalesce(sum(t.premium_paid), 0) as premiums
    from service.relayer_wallet w
    join service.transaction t on t.chain_id = w.chain_id and t.wallet = w.address
    join service.purchase p on p.id = t.intent
    join service.api_key k on k.id = p.key_id
    where t.created_at >= ${today(sql)} and t.gas_cost is not null
    group by p.key_id, k.wallet, k.label order by sum(t.gas_cost) desc limit ${limit}`;
  return rows.map((row) => ({ ...row, gas: BigInt(row.gas), premiums: BigInt(row.premiums) }));
}
