/** The gas of a UTC day and its budgets, in wei. */
import type { Sql } from "postgres";

/** The most that gas may cost in a UTC day, in wei; `keeper` is undefined for a writer without a keeper. */
export type GasBudgets = {
  service: bigint;
  /** For the purchases of each wallet's keys. */
  client: bigint;
  keeper?: bigint | undefined;
};

/** States the budgets of a chain for the operator to read. The writer that started last decides what is shown. */
export async function stateBudgets(sql: Sql, chainId: number, budgets: GasBudgets): Promise<void> {
  for (const [account, wei] of Object.entries(budgets)) {
    if (wei === undefined) continue;
    await sql`
      insert into service.gas_budget (chain_id, account, wei) values (${chainId}, ${account}, ${String(wei)})
      on conflict (chain_id, account) do update set wei = excluded.wei, stated_at = now()`;
  }
}

/**
 * What gas has cost since midnight UTC: a transaction that is not mined counts with its highest possible cost. The budgets are null
 * where no writer has stated one.
 */
export type GasToday = {
  chainId: number;
  /** The keeper has a budget of its own, and does not count for the other. */
  account: "service" | "keeper";
  spent: bigint;
  budget: bigint | null;
  /** The budget of each client's wallet; null for the keeper. */
  clientBudget: bigint | null;
  statedAt: Date | null;
};

type Row = Omit<GasToday, "spent" | "budget" | "clientBudget"> & {
  spent: string;
  budget: string | null;
  clientBudget: string | null;
};
const wei = (decimals: string | null): bigint | null => (decimals === null ? null : BigInt(decimals));

/** Today's gas of each chain on which a wallet of the service sends, the keeper's after the others'. */
export async function gasToday(sql: Sql): Promise<GasToday[]> {
  const rows = await sql<Row[]>`
    select a.chain_id as "chainId", a.account, coalesce(g.wei, 0) as spent, b.wei as budget, c.wei as "clientBudget",
      b.stated_at as "statedAt"
    from (
      select distinct chain_id, case role when 'keeper' then 'keeper' else 'service' end as account
      from service.relayer_wallet) a
    left join service.gas_day g on g.chain_id = a.chain_id and g.day = (now() at time zone 'utc')::date
      and g.wallet = case a.account when 'keeper' then 'keeper' else '' end
    left join service.gas_budget b on b.chain_id = a.chain_id and b.account = a.account
    left join service.gas_budget c on c.chain_id = a.chain_id and a.account = 'service' and c.account = 'client'
    order by a.chain_id, a.account desc`;
  return rows.map((row) => ({
    ...row,
    spent: BigInt(row.spent),
    budget: wei(row.budget),
    clientBudget: wei(row.clientBudget),
  }));
}
