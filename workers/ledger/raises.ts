import type { Sql } from "postgres";
import { readSpending, type Spending, whileBudgetLocked } from "./gas-spending.ts";
import type { Lease } from "./leases.ts";

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
 * Reserves the cost of the raises that `choose` takes within the day's budget, before they are signed.
 * @returns the chosen raises that are still open.
 * @throws LeaseLost
 */
export function reserveRaises<Chosen extends Raise>(
  sql: Sql,
  lease: Lease,
  choose: (spending: Spending) => readonly Chosen[],
): Promise<Chosen[]> {
  return whileBudgetLocked(sql, lease, async (tx) => {
    const chosen = choose(await readSpending(tx, lease, []));
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
    return chosen.filter(({ id }) => open.has(id));
  });
}
