/** SQL of the sandbox's upkeep. */
import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { LastErrand, UpkeepPurpose } from "./plan.ts";

/** The relayers' wallets that some writer sends from, which the operator has not stopped. */
export async function relayersAtWork(sql: Sql, chainId: number): Promise<Address[]> {
  const rows = await sql<{ address: Address }[]>`
    select address from service.relayer_wallet
    where chain_id = ${chainId} and role = 'relayer' and lease_until > now() and lease_owner is not null
      and service.stopped_by(address, null) is distinct from 'wallet'
    order by address`;
  return rows.map(({ address }) => address);
}

/** What gas has cost in this UTC day, or still may, in wei. */
export async function gasSpentToday(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql<{ wei: string }[]>`
    select wei from service.gas_day
    where chain_id = ${chainId} and day = (now() at time zone 'utc')::date and wallet = ''`;
  return BigInt(row?.wei ?? 0);
}

type Row = { purpose: UpkeepPurpose; open: boolean; message: string | null; age: number };

const lastOf = ({ open, message, age }: Row): LastErrand => {
  if (open) return { state: "open" };
  return message === null ? { state: "done" } : { state: "failed", message, age };
};

/** The newest errand of each purpose; one that a reorganisation can still undo counts as open. */
export async function lastErrands(
  sql: Sql,
  chainId: number,
): Promise<Partial<Record<UpkeepPurpose, LastErrand>>> {
  const rows = await sql<Row[]>`
    select distinct on (purpose) purpose, final_at is null as open, failure_message as message,
      extract(epoch from now() - updated_at)::float8 as age
    from service.errand where chain_id = ${chainId} and claim_id is null
    order by purpose, created_at desc`;
  return Object.fromEntries(rows.map((row) => [row.purpose, lastOf(row)]));
}

export type NewErrand = { purpose: UpkeepPurpose; sender: Address; to: Address; data: Hex; value: bigint };

/**
 * Records an errand of the upkeep; false when there is one of its purpose that may still come to something. One that is
 * mined counts until it is final: a reorganisation would put it back on its way, beside the new one.
 */
export async function beginErrand(sql: Sql, chainId: number, errand: NewErrand): Promise<boolean> {
  const { purpose, sender, to, data, value } = errand;
  const rows = await sql`
    insert into service.errand (chain_id, sender, purpose, "to", data, value)
    select ${chainId}, ${sender}, ${purpose}, ${to}, ${data}, ${String(value)}::numeric
    where not exists (
      select 1 from service.errand e
      where e.chain_id = ${chainId} and e.purpose = ${purpose} and e.claim_id is null and e.final_at is null)
    on conflict do nothing returning id`;
  return rows.length > 0;
}

/** USDC and allowance have 6 decimals, ether is in wei. */
export type Noted = {
  wallet: Address;
  usdc: bigint;
  allowance: bigint;
  ether: bigint;
  canBuy: boolean;
  fault: string | undefined;
};

/** Lets the API tell what was found. */
export async function noteSandbox(sql: Sql, chainId: number, noted: Noted): Promise<void> {
  const { wallet, usdc, allowance, ether, canBuy, fault = null } = noted;
  await sql`
    insert into service.sandbox_wallet (chain_id, wallet, usdc, allowance, ether, can_buy, fault)
    values (${chainId}, ${wallet}, ${String(usdc)}, ${String(allowance)}, ${String(ether)}, ${canBuy}, ${fault})
    on conflict (chain_id, wallet) do update set usdc = excluded.usdc, allowance = excluded.allowance,
      ether = excluded.ether, can_buy = excluded.can_buy, fault = excluded.fault, checked_at = now()`;
}
