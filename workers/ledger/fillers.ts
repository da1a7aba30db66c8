import type { Sql } from "postgres";
import type { Address } from "viem";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";
import type { Call, Signed } from "./signing.ts";

/** SQL of fillers: empty transfers of a wallet to itself, which close nonce gaps. */

/** Nonces from `first` up to the wallet's next nonce that have no row in the ledger; at most 100. */
export async function nonceGaps(
  sql: Sql,
  chainId: number,
  wallet: Address,
  first: number,
): Promise<number[]> {
  const rows = await sql<{ nonce: string }[]>`
    select n as nonce from service.relayer_wallet w,
      generate_series(${first}::bigint, least(w.next_nonce - 1, ${first}::bigint + 99)) n
    where w.chain_id = ${chainId} and w.address = ${wallet} and not exists (
      select 1 from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n)`;
  return rows.map((row) => Number(row.nonce));
}

/** Stores a filler for a nonce without a row; false when the nonce has a row by now. Throws {@link LeaseLost}. */
export async function storeFiller(
  sql: Sql,
  lease: Lease,
  nonce: number,
  { call, signed }: { call: Call; signed: Signed },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const held = await tx`
      select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)} and next_nonce > ${nonce} for share`;
    if (held.length === 0) throw new LeaseLost(lease);
    const stored = await tx`
      with stored as (
        insert into service.transaction (chain_id, wallet, nonce, kind, "to", data, gas_limit, gas_reserved)
        values (${lease.chainId}, ${lease.address}, ${nonce}, 'filler', ${call.to}, ${call.data},
          ${String(call.gasLimit)}::bigint, ${String(call.gasLimit * signed.maxFee)}::numeric)
        on conflict (chain_id, wallet, nonce) do nothing returning id
      )
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
      select ${signed.hash}::text, id, ${signed.bytes}::text, ${String(signed.maxFee)}::numeric,
        ${String(signed.priorityFee)}::numeric, ${lease.token}::bigint from stored
      returning hash`;
    return stored.length > 0;
  });
}

/** How long after its signing a filler is watched: it may be mined hours later, and its block may then be replaced. */
const FILLER_HOURS = 24;

/** Whether the wallet has a mined filler that is still watched. */
export async function hasMinedFillers(sql: Sql, chainId: number, wallet: Address): Promise<boolean> {
  const rows = await sql`
    select 1 from service.transaction
    where chain_id = ${chainId} and wallet = ${wallet} and kind = 'filler' and state = 'mined'
      and created_at > now() - make_interval(hours => ${FILLER_HOURS}) limit 1`;
  return rows.length > 0;
}

/**
 * Reopens fillers that the chain no longer counts as mined, because their block fell out of the chain: they are sent
 * again. A wrong count from a node that is behind does no harm: the filler is then found mined again.
 */
export async function reopenFillers(
  sql: Sql,
  chainId: number,
  wallet: Address,
  minedNonce: number,
): Promise<void> {
  await sql`
    with reopened as (
      update service.transaction set state = 'open', opened_at = now(), gas_cost = null
      where chain_id = ${chainId} and wallet = ${wallet} and kind = 'filler' and state = 'mined' and nonce >= ${minedNonce}
      returning id
    )
    update service.attempt a set last_broadcast_at = null from reopened where a.transaction_id = reopened.id`;
}
