import type { ISql, Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "../../lib/ledger/tables.ts";

/**
 * One writer owns a wallet at a time. The fencing token rises whenever a wallet changes hands, and every statement that
 * takes a nonce or stores signed bytes checks it, by the database's clock: a writer that was asleep can store nothing.
 */
export type Lease = { chainId: number; address: Address; owner: string /** A decimal. */; token: string };

/** Long enough for a garbage collection or a slow query, short enough for another writer to take over soon. */
export const LEASE_SECONDS = 8;
/** A lease survives two failed renewals. */
export const RENEW_MS = 2000;

/** The condition under which a statement on `relayer_wallet` speaks for the lease's owner. */
export const holds = (sql: ISql, { chainId, address, owner, token }: Lease) => sql`
  chain_id = ${chainId} and address = ${address} and lease_owner = ${owner}
  and fencing_token = ${token} and lease_until > now()`;

/** The lease was lost: another writer may be sending from this wallet. Nothing was stored. */
export class LeaseLost extends Error {
  override name = "LeaseLost";
  constructor(readonly lease: Lease) {
    super(`the lease on wallet ${lease.address} is no longer ours`);
  }
}

/** Takes a wallet that nobody owns; undefined while another writer does. `address` is lowercase. */
export async function takeLease(
  sql: Sql,
  { chainId, address, owner, role = "relayer" }: Omit<Lease, "token"> & { role?: WalletRole },
): Promise<Lease | undefined> {
  await sql`
    insert into service.relayer_wallet (chain_id, address, role) values (${chainId}, ${address}, ${role})
    on conflict do nothing`;
  const [row] = await sql<{ token: string }[]>`
    update service.relayer_wallet
    set lease_owner = ${owner}, lease_until = now() + make_interval(secs => ${LEASE_SECONDS}),
      fencing_token = fencing_token + 1, heartbeat_at = now(), role = ${role}
    where chain_id = ${chainId} and address = ${address} and (lease_owner is null or lease_until <= now())
    returning fencing_token as token`;
  return row && { chainId, address, owner, token: row.token };
}

/** Notes what keeps the lease's owner from signing with the wallet; undefined when nothing does. */
export async function noteFault(sql: Sql, lease: Lease, fault: string | undefined): Promise<void> {
  const words = fault ?? null;
  await sql`
    update service.relayer_wallet set fault = ${words}
    where ${holds(sql, lease)} and fault is distinct from ${words}::text`;
}

/** Whether some writer sends purchases from another wallet than these. */
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

/** Extends a lease, also one that lapsed while nobody took it; false when it is lost. */
export async function renewLease(sql: Sql, { chainId, address, owner, token }: Lease): Promise<boolean> {
  const rows = await sql`
    update service.relayer_wallet
    set lease_until = now() + make_interval(secs => ${LEASE_SECONDS}), heartbeat_at = now()
    where chain_id = ${chainId} and address = ${address} and lease_owner = ${owner} and fencing_token = ${token}
    returning address`;
  return rows.length > 0;
}

/** Gives a wallet back, so that another writer need not wait until the lease lapses. */
export async function releaseLease(sql: Sql, { chainId, address, owner, token }: Lease): Promise<void> {
  await sql`
    update service.relayer_wallet set lease_owner = null, lease_until = now()
    where chain_id = ${chainId} and address = ${address} and lease_owner = ${owner} and fencing_token = ${token}`;
}

/**
 * Sets the first nonce to give out to the greater of the ledger's and the chain's `pending` count: what the ledger gave
 * out before may still be on its way, and what others sent from this wallet is gone. Throws {@link LeaseLost}.
 */
export async function raiseNextNonce(sql: Sql, lease: Lease, pending: number): Promise<number> {
  const [row] = await sql<{ next: string }[]>`
    update service.relayer_wallet set next_nonce = greatest(coalesce(next_nonce, 0), ${pending})
    where ${holds(sql, lease)} returning next_nonce as next`;
  if (!row) throw new LeaseLost(lease);
  return Number(row.next);
}
