import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import { PURCHASE_CHANNEL } from "../../lib/ledger/wait.ts";

/** What a block says about one of our signed transactions; `premiumPaid` has 6 decimals. */
export type Outcome = { hash: Hex; blockNumber: bigint; blockHash: Hex } & (
  | { kind: "bought"; policyId: bigint; premiumPaid: bigint }
  | { kind: "reverted"; code: ErrorCode; message: string }
  /** A transaction that closed a gap: nobody waits for it. */
  | { kind: "filled" }
);

/**
 * Writes outcomes down. Running it twice changes nothing; an outcome in another block than the one on record replaces
 * it, because a transaction that was included again may have got another policy. Whoever waits is told on commit.
 * @returns the ids of the purchases that changed.
 */
export async function settle(sql: Sql, outcomes: readonly Outcome[]): Promise<string[]> {
  if (outcomes.length === 0) return [];
  const input = outcomes.map((outcome) => ({
    hash: outcome.hash,
    block_number: String(outcome.blockNumber),
    block_hash: outcome.blockHash,
    policy_id: outcome.kind === "bought" ? String(outcome.policyId) : null,
    premium_paid: outcome.kind === "bought" ? String(outcome.premiumPaid) : null,
    code: outcome.kind === "reverted" ? outcome.code : null,
    message: outcome.kind === "reverted" ? outcome.message : null,
  }));
  const rows = await sql<{ id: string }[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(input)}::text::json) as t (
        hash text, block_number bigint, block_hash text, policy_id numeric, premium_paid numeric, code text, message text)
    ), mined as (
      update service.transaction t set state = 'mined'
      from input join service.attempt a using (hash)
      where t.id = a.transaction_id and t.state in ('open', 'mined')
      returning t.purchase_id, input.*
    ), settled as (
      update service.purchase p
      set state = case when m.code is null then 'mined' else 'failed' end, updated_at = now(),
        tx_hash = m.hash, block_number = m.block_number, block_hash = m.block_hash,
        policy_id = m.policy_id, premium_paid = m.premium_paid, failure_code = m.code, failure_message = m.message
      from mined m
      where p.id = m.purchase_id and p.state <> 'accepted' and p.final_at is null
        and (p.block_hash is distinct from m.block_hash or p.tx_hash is distinct from m.hash)
      returning p.id
    )
    select id::text, pg_notify(${PURCHASE_CHANNEL}, id::text) from settled`;
  return rows.map((row) => row.id);
}

/** A block that the ledger relies on: purchases were settled by it. */
export type ReliedBlock = { number: bigint; hash: Hex };

/** The blocks at or below `height` by which purchases were settled that are not final yet; at most 500. */
export async function unconfirmedBlocks(sql: Sql, chainId: number, height: bigint): Promise<ReliedBlock[]> {
  const rows = await sql<{ number: string; hash: Hex }[]>`
    select distinct block_number as number, block_hash as hash from service.purchase
    where chain_id = ${chainId} and final_at is null and block_number <= ${String(height)}::bigint
    order by block_number limit 500`;
  return rows.map((row) => ({ number: BigInt(row.number), hash: row.hash }));
}

/** The block still stands where it stood, deep enough: what it settled is final. */
export async function confirmBlock(sql: Sql, chainId: number, { number, hash }: ReliedBlock): Promise<void> {
  await sql`
    with done as (
      update service.purchase
      set state = case state when 'mined' then 'confirmed' else state end, final_at = now(), updated_at = now()
      where chain_id = ${chainId} and final_at is null
        and block_number = ${String(number)}::bigint and block_hash = ${hash}
      returning id
    ), final as (
      update service.transaction t set state = 'final' from done
      where t.purchase_id = done.id and t.state = 'mined'
    )
    select pg_notify(${PURCHASE_CHANNEL}, id::text) from done`;
}

/**
 * Another block stands where this one stood: what it settled is on its way again, and its bytes are to be sent again.
 * @returns the ids of the purchases that fell out of the chain.
 */
export async function dropBlock(sql: Sql, chainId: number, { number, hash }: ReliedBlock): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    with dropped as (
      update service.purchase
      set state = 'broadcast', block_number = null, block_hash = null, policy_id = null, premium_paid = null,
        failure_code = null, failure_message = null, updated_at = now()
      where chain_id = ${chainId} and final_at is null
        and block_number = ${String(number)}::bigint and block_hash = ${hash}
      returning id
    ), reopened as (
      update service.transaction t set state = 'open' from dropped
      where t.purchase_id = dropped.id and t.state = 'mined' returning t.id
    ), overdue as (
      update service.attempt a set last_broadcast_at = null from reopened where a.transaction_id = reopened.id
    )
    select id::text from dropped`;
  return rows.map((row) => row.id);
}

/**
 * Another transaction holds the nonce in a block deep enough, and none of our forms can ever be mined: the purchase is
 * wanted as before, and is signed anew under another nonce.
 */
export async function markLost(sql: Sql, transactionId: number, holder: Hex): Promise<void> {
  // Looked at once more: another writer may have stored a new form since the proof began, and that form be the holder.
  await sql`
    with lost as (
      update service.transaction set state = 'lost' where id = ${transactionId} and state = 'open'
        and not exists (select 1 from service.attempt a where a.transaction_id = ${transactionId} and a.hash = ${holder})
      returning purchase_id
    )
    update service.purchase p set state = 'accepted', tx_hash = null, wake_at = now(), updated_at = now()
    from lost where p.id = lost.purchase_id and p.state in ('signed', 'broadcast')`;
}

/** For so long a reorganisation is thought able to take a filler's block away. */
const FILLER_MINUTES = 60;

/** Whether a filler of the wallet was mined of late. */
export async function hasMinedFillers(sql: Sql, chainId: number, wallet: Address): Promise<boolean> {
  const rows = await sql`
    select 1 from service.transaction
    where chain_id = ${chainId} and wallet = ${wallet} and kind = 'filler' and state = 'mined'
      and created_at > now() - make_interval(mins => ${FILLER_MINUTES}) limit 1`;
  return rows.length > 0;
}

/**
 * Fillers whose nonce the chain no longer counts as used: their block fell out of the chain, and what closed a gap is to
 * be sent again. A node that is behind makes this do nothing worse than to look once more.
 */
export async function reopenFillers(
  sql: Sql,
  chainId: number,
  wallet: Address,
  minedNonce: number,
): Promise<void> {
  await sql`
    with reopened as (
      update service.transaction set state = 'open'
      where chain_id = ${chainId} and wallet = ${wallet} and kind = 'filler' and state = 'mined' and nonce >= ${minedNonce}
      returning id
    )
    update service.attempt a set last_broadcast_at = null from reopened where a.transaction_id = reopened.id`;
}
