import type { Sql } from "postgres";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";
import { waitAgain } from "./outcomes.ts";

/**
 * Takes a wallet's open transactions without signed bytes out of the ledger: bytes are stored before they are sent, so that
 * none of these can be mined. What they were for waits to be signed with another wallet; purchases that are too old are refused.
 * Should the wallet send again, the recovery fills their nonces.
 * @param pending the wallet's nonces that the node knows, also in its pool: the database may have lost the bytes of a lower one.
 * @returns their nonces.
 * @throws LeaseLost with nothing changed: only a writer with the lease can store bytes.
 */
export async function removeUnsigned(sql: Sql, lease: Lease, pending: number): Promise<number[]> {
  return sql.begin(async (tx) => {
    const held = await tx`select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)} for update`;
    if (held.length === 0) throw new LeaseLost(lease);
    // The day's gas counts changes of a reservation, not removed rows.
    const rows = await tx<{ id: string; nonce: string }[]>`
      update service.transaction t set gas_reserved = 0
      from service.relayer_wallet w
      cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) o
      where w.chain_id = ${lease.chainId} and w.address = ${lease.address} and t.id = o.id and t.state = 'open' and t.nonce >= ${pending}
        and not exists (select 1 from service.attempt a where a.transaction_id = t.id)
      returning t.id, t.nonce`;
    await tx`
      with given as (
        delete from service.transaction where id = any(${rows.map(({ id }) => id)}::text[]::bigint[])
        returning intent, kind, chain_id, payer
      ) ${waitAgain(tx)}`;
    // Should the wallet go on, a fence without them is none.
    await tx`
      update service.relayer_wallet set fence_with = null, fence_from = null, fence_below = null, fenced_with = null
      where ${leaseHeld(tx, lease)} and ${rows.length} > 0`;
    return rows.map(({ nonce }) => Number(nonce)).toSorted((a, b) => a - b);
  });
}
