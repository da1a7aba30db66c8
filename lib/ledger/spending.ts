/**
 * Sums the spending on transactions that were signed since midnight UTC and are in a block. Gas in wei, premiums in USDC
 * base units (6 decimals).
 */
import type { ISql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "./relayers.ts";

const today = (sql: ISql) => sql`(date_trunc('day', now() at time zone 'UTC') at time zone 'UTC')`;

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
export async function spendingByWallet(sql: ISql): Promise<WalletSpending[]> {
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
export async function spendingByKey(sql: ISql, limit: number): Promise<KeySpending[]> {
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

/** A day's gas in wei, and the most that it may cost; null before a writer has noted its budgets. */
export type GasBudget = {
  chainId: number;
  /** The keeper's wallet has a budget of its own; all other wallets of the chain share one. */
  of: "keeper" | "others";
  /** Of this UTC day; a transaction that is in no block counts with its highest possible cost. */
  spent: bigint;
  budget: bigint | null;
  /** For the purchases of one wallet's keys. */
  budgetPerClient: bigint | null;
};

type GasBudgetRow = Omit<GasBudget, "spent" | "budget" | "budgetPerClient"> & {
  spent: string;
  budget: string | null;
  budgetPerClient: string | null;
};
const weiOrNull = (decimals: string | null): bigint | null => (decimals === null ? null : BigInt(decimals));

/** The budgets of the writers that took the wallets last, and what is spent of them. */
export async function gasBudgets(sql: ISql): Promise<GasBudget[]> {
  const rows = await sql<GasBudgetRow[]>`
    select w.chain_id as "chainId", w.of, (
        select coalesce(sum(g.wei), 0) from service.gas_day g
        where g.chain_id = w.chain_id and g.day = (now() at time zone 'utc')::date
          and g.wallet = case w.of when 'keeper' then 'keeper' else '' end)::text as spent,
      w.budget::text, w.client_budget::text as "budgetPerClient"
    from (
      select chain_id, case role when 'keeper' then 'keeper' else 'others' end as of,
        (array_agg(gas_budget order by heartbeat_at desc) filter (where gas_budget is not null))[1] as budget,
        (array_agg(client_gas_budget order by heartbeat_at desc) filter (where client_gas_budget is not null))[1] as client_budget
      from service.relayer_wallet group by 1, 2) w
    order by 1, 2 desc`;
  return rows.map((row) => ({
    ...row,
    spent: BigInt(row.spent),
    budget: weiOrNull(row.budget),
    budgetPerClient: weiOrNull(row.budgetPerClient),
  }));
}
