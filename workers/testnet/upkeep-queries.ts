/** SQL of the sandbox's upkeep. */
import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { LastServiceTransaction, UpkeepPurpose } from "./upkeep-plan.ts";

/** The relayer wallets that some writer holds a lease on and the operator has not stopped. */
export async function activeRelayers(sql: Sql, chainId: number): Promise<Address[]> {
  const rows = await sql<{ address: Address }[]>`
    select address from service.relayer_wallet
    where chain_id = ${chainId} and role = 'relayer' and lease_until > now() and lease_owner is not null
      and service.stopped_by(address, null) is distinct from 'wallet'
    order by address`;
  return rows.map(({ address }) => address);
}

type Row = { purpose: UpkeepPurpose; open: boolean; message: string | null; age: number };

const lastOf = ({ open, message, age }: Row): LastServiceTransaction => {
  if (open) return { state: "open" };
  return message === null ? { state: "done" } : { state: "failed", message, age };
};

/**
 * Whether a service transaction `e` is open: until it is final, a reorganisation can undo it. A service transaction of a wallet that no writer
 * has had for an hour may never become final, and counts as closed.
 */
const isOpen = (sql: ISql) => sql`
  (e.final_at is null and exists (
    select 1 from service.relayer_wallet w
    where w.chain_id = e.chain_id and w.address = e.sender and w.heartbeat_at > now() - interval '1 hour'))`;

/** The newest service transaction of each purpose. */
export async function lastServiceTransactions(
  sql: Sql,
  chainId: number,
): Promise<Partial<Record<UpkeepPurpose, LastServiceTransaction>>> {
  const rows = await sql<Row[]>`
    select distinct on (purpose) purpose, ${isOpen(sql)} as open, failure_message as message,
      extract(epoch from now() - coalesce(settled_at, created_at))::float8 as age
    from service.service_transaction_progress e where chain_id = ${chainId} and claim_id is null
    order by purpose, created_at desc`;
  return Object.fromEntries(rows.map((row) => [row.purpose, lastOf(row)]));
}

export type NewServiceTransaction = {
  purpose: UpkeepPurpose;
  sender: Address;
  to: Address;
  data: Hex;
  value: bigint;
};

/**
 * Records a service transaction of the upkeep. False, with nothing recorded, when a service transaction of that purpose is open: it would be
 * done twice.
 */
export async function beginServiceTransaction(
  sql: Sql,
  chainId: number,
  serviceTransaction: NewServiceTransaction,
): Promise<boolean> {
  const { purpose, sender, to, data, value } = serviceTransaction;
  return sql.begin(async (tx) => {
    // Of several writers that see the need one begins, and the others then see its row.
    await tx`select pg_advisory_xact_lock(hashtextextended(${`service:upkeep:${chainId}:${purpose}`}, 0))`;
    const rows = await tx`
      insert into service.service_transaction (chain_id, sender, purpose, "to", data, value)
      select ${chainId}, ${sender}, ${purpose}, ${to}, ${data}, ${String(value)}::numeric
      where not exists (
        select 1 from service.service_transaction_progress e
        where e.chain_id = ${chainId} and e.purpose = ${purpose} and e.claim_id is null and ${isOpen(tx)})
      returning id`;
    return rows.length > 0;
  });
}

/** USDC and allowance have 6 decimals, ether is in wei. */
export type SandboxState = {
  wallet: Address;
  usdc: bigint;
  allowance: bigint;
  ether: bigint;
  canBuy: boolean;
  fault: string | undefined;
};

/** Stores the wallet's state for the API. */
export async function noteSandbox(sql: Sql, chainId: number, state: SandboxState): Promise<void> {
  const { wallet, usdc, allowance, ether, canBuy, fault = null } = state;
  await sql`
    insert into service.sandbox_wallet (chain_id, wallet, usdc, allowance, ether, can_buy, fault)
    values (${chainId}, ${wallet}, ${String(usdc)}, ${String(allowance)}, ${String(ether)}, ${canBuy}, ${fault})
    on conflict (chain_id, wallet) do update set usdc = excluded.usdc, allowance = excluded.allowance,
      ether = excluded.ether, can_buy = excluded.can_buy, fault = excluded.fault, checked_at = now()`;
}
