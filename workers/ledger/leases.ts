import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import type { Budgets } from "./gas-spending.ts";

/**
 * One writer owns a wallet at a time. The fencing token rises with each new owner. Every statement that takes a nonce
 * or stores signed bytes checks token and expiry by the database's clock: a writer that was suspended can store
 * nothing.
 */
export type Lease = { chainId: number; address: Address; owner: string /** A decimal. */; token: string };

/** Long enough for a garbage collection or a slow query, short enough for another writer to take over soon. */
export const LEASE_SECONDS = 8;
/** A lease survives two failed renewals. */
export const RENEW_MS = 2000;

/** SQL condition on `relayer_wallet`: the lease is still held. */
export const leaseHeld = (sql: ISql, { chainId, address, owner, token }: Lease) => sql`
  chain_id = ${chainId} and address = ${address} and lease_owner = ${owner}
  and fencing_token = ${token} and lease_until > now()`;

/** The lease was lost, and nothing was stored: another writer may be sending from this wallet. */
export class LeaseLost extends Error {
  override name = "LeaseLost";
  readonly lease: Lease;

  constructor(lease: Lease) {
    super(`the lease on wallet ${lease.address} is no longer ours`);
    this.lease = lease;
  }
}

const noted = (wei: bigint | undefined): string | null => (wei === undefined ? null : String(wei));

/**
 * Takes the lease of a wallet; undefined while another writer has it. One that reaches twice as far as a renewal was given by a clock
 * that was ahead, and has expired: a little further is no sign, because a statement that waited for a lock has an older `now`.
 * `address` is lowercase. Without a `role` the wallet keeps its own; a new one is a relayer. The operator is shown the `budgets`;
 * without them the wallet keeps its own.
 */
export async function takeLease(
  sql: Sql,
  { chainId, address, owner, role, budgets }: Omit<Lease, "token"> & { role?: WalletRole; budgets?: Budgets },
): Promise<Lease | undefined> {
  await sql`
    with budgets as (
      insert into service.budget_lock (chain_id, account) values (${chainId}, ''), (${chainId}, 'keeper') on conflict do nothing)
    insert into service.relayer_wallet (chain_id, address) values (${chainId}, ${address}) on conflict do nothing`;
  const [row] = await sql<{ token: string }[]>`
    update service.relayer_wallet
    set lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
      fencing_token = fencing_token + 1, heartbeat_at = now(),
      role = coalesce(${role ?? null}::text, role),
      gas_budget = coalesce(${noted(budgets?.gasBudget)}::numeric, gas_budget),
      client_gas_budget = coalesce(${noted(budgets?.gasBudgetPerWallet)}::numeric, client_gas_budget)
    where chain_id = ${chainId} and address = ${address} and (lease_owner is null
      or lease_until not between now() and now() + make_interval(secs => ${2 * LEASE_SECONDS}))
    returning fencing_token as token`;
  return row && { chainId, address, owner, token: row.token };
}

/** Stores why the lease's owner cannot sign with the wallet; `fault` is undefined when it can. */
export async function noteFault(sql: Sql, lease: Lease, fault: string | undefined): Promise<void> {
  const text = fault ?? null;
  await sql`
    update service.relayer_wallet set fault = ${text}
    where ${leaseHeld(sql, lease)} and fault is distinct from ${text}::text`;
}

/** Whether some writer has a relayer wallet other than these. */
export async function hasOtherRelayers(
  sql: Sql,
  chainId: number,
  addresses: readonly Address[],
): Promise<boolean> {
  const rows = await sql`
    select 1 from service.relayer_wallet
    where chain_id = ${chainId} and role = 'relayer' and lease_until > now() and address <> all(${[...addresses]}::text[]) limit 1`;
  return rows.length > 0;
}

/** Extends a lease, also one that has expired and that no other writer has taken; false when it is lost. */
export async function renewLease(sql: Sql, { chainId, address, owner, token }: Lease): Promise<boolean> {
  const rows = await sql`
    update service.relayer_wallet
    set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), heartbeat_at = now()
    where chain_id = ${chainId} and address = ${address} and lease_owner = ${owner} and fencing_token = ${token}
    returning address`;
  return rows.length > 0;
}

/** Gives a lease back, so that another writer need not wait until it expires. */
export async function releaseLease(sql: Sql, { chainId, address, owner, token }: Lease): Promise<void> {
  await sql`
    update service.relayer_wallet set lease_owner = null, lease_until = now()
    where chain_id = ${chainId} and address = ${address} and lease_owner = ${owner} and fencing_token = ${token}`;
}

/**
 * The wallet's next nonce. Only its first use takes the chain's `pending` count for it: later on the ledger alone gives
 * nonces out. Of a wallet without nonces before none was lost: it needs no fence.
 * @throws LeaseLost
 */
export async function startNonces(sql: Sql, lease: Lease, pending: number): Promise<number> {
  const [row] = await sql<{ next: string }[]>`
    with begun as (
      update service.relayer_wallet
      set next_nonce = ${pending}, compared_with = pg_postmaster_start_time(), fenced_with = pg_postmaster_start_time(),
        fence_with = pg_postmaster_start_time(), fence_from = ${pending}, fence_below = ${pending}
      where ${leaseHeld(sql, lease)} and next_nonce is null returning next_nonce
    )
    select coalesce((select next_nonce from begun), next_nonce) as next from service.relayer_wallet
    where ${leaseHeld(sql, lease)}`;
  if (!row) throw new LeaseLost(lease);
  return Number(row.next);
}
