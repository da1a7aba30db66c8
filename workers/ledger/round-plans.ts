import { randomUUID } from "node:crypto";
import type { ISql, Sql } from "postgres";
import type { Lease } from "./leases.ts";

/** Other wallets' rounds may take what is left of a budget or of the vault. Nothing was stored; a later try sees what they took. */
export class RoundsCompete extends Error {
  override message = "rounds of other wallets may take what is left";
}

/** The most that gas may cost, in wei. A purchase also plans its coverage, and the gas of its client. */
export type PlannedCost = { purchaseId: string | null; cost: bigint };

/** Commits what a round may reserve, for the rounds of other wallets to see. @returns the round's id. */
export async function planRound(
  sql: Sql,
  { chainId, address }: Lease,
  costs: readonly PlannedCost[],
): Promise<string> {
  const round = randomUUID();
  const input = costs.map(({ purchaseId, cost }) => ({ id: purchaseId, cost: String(cost) }));
  await sql`
    with planned as (
      select p.wallet as client, coalesce(sum(c.cost), 0) as gas, coalesce(sum(p.coverage_amount), 0) as coverage
      from json_to_recordset(${JSON.stringify(input)}::text::json) as c (id uuid, cost numeric)
      left join service.purchase p on p.id = c.id group by 1
    )
    insert into service.round_plan (round, chain_id, wallet, gas, client_gas, coverage)
    select ${round}, ${chainId}, ${address}, coalesce(sum(gas), 0),
      coalesce(jsonb_object_agg(client, gas) filter (where client is not null), '{}'), coalesce(sum(coverage), 0)
    from planned`;
  return round;
}

/** Deletes a round's plan. @returns false when it is gone: the round took too long, and other wallets no longer see it. */
export async function endPlan(sql: ISql, round: string): Promise<boolean> {
  const rows = await sql`delete from service.round_plan where round = ${round} returning round`;
  return rows.length > 0;
}
