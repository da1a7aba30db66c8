import type { Sql } from "postgres";
import type { Spending } from "./gas-spending.ts";
import type { Lease } from "./leases.ts";
import { withinBudgets } from "./within-budgets.ts";

/** An open transaction, and the most that it may cost with a higher fee, in wei. */
export type Raise = {
  id: number;
  cost: bigint;
  /** What is reserved for it now. */
  reserved: bigint;
  /** The form is an empty transfer, which makes way for the nonces behind it: the budget does not hold it back. */
  isEmpty: boolean;
};

/**
 * Reserves the cost of the chosen raises, before they are signed, within the day's budget.
 *
 * @param gasBudget the most that gas may cost in a UTC day, in wei.
 * @returns the chosen raises that are still open.
 * @throws LeaseLost
 * @throws RoundsCompete
 */
export async function reserveRaises<Wanted extends Raise>(
  sql: Sql,
  lease: Lease,
  gasBudget: bigint,
  wanted: readonly Wanted[],
  choose: (spending: Spending) => readonly Wanted[],
): Promise<Wanted[]> {
  const dearer = wanted.filter(({ cost, reserved }) => cost > reserved);
  const plan = dearer.map(({ cost, reserved }) => ({ purchaseId: null, cost: cost - reserved }));
  const { raises } = await withinBudgets(sql, lease, { gasBudget, plan }, async (tx, readSpending) => {
    const chosen = choose(await readSpending([]));
    const rows = chosen.map(({ id, cost }) => ({ id, cost: String(cost) }));
    // Outcomes lock transactions in the order of their ids too: no deadlocks.
    const reserved = await tx<{ id: string }[]>`
      with raise as (
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (id bigint, cost numeric)
      ), open as (
        select t.id, raise.cost from service.transaction t join raise on raise.id = t.id
        where t.state = 'open' and t.wallet = ${lease.address} order by t.id for update of t
      )
      update service.transaction t set gas_reserved = greatest(gas_reserved, open.cost)
      from open where t.id = open.id returning t.id`;
    const open = new Set(reserved.map(({ id }) => Number(id)));
    const raised = chosen.filter(({ cost, reserved }) => cost > reserved);
    return {
      raises: chosen.filter(({ id }) => open.has(id)),
      reserves: raised.some(({ isEmpty }) => !isEmpty),
      exempt: raised.reduce((sum, raise) => (raise.isEmpty ? sum + raise.cost - raise.reserved : sum), 0n),
    };
  });
  return raises;
}
