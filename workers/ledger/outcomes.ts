import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import { PURCHASE_CHANNEL } from "../../lib/ledger/waiter.ts";
import { type IntentKind, intents } from "./intent-tables.ts";

/** The outcome of one of our signed transactions in a block; `premiumPaid` has 6 decimals, `gasCost` is in wei. */
export type Outcome = { hash: Hex; blockNumber: bigint; blockHash: Hex; gasCost: bigint } & (
  | { kind: "bought"; policyId: bigint; premiumPaid: bigint }
  /** A service transaction is mined. */
  | { kind: "done" }
  | { kind: "reverted"; code: ErrorCode; message: string }
  /** An empty transfer replaced a purchase that had waited too long. */
  | { kind: "replaced"; code: ErrorCode; message: string }
  /** A filler was mined. */
  | { kind: "filled" }
);

/** A purchase whose outcome was stored; `keyId` is a decimal, null for a purchase of the sandbox. */
export type SettledPurchase = {
  id: string;
  keyId: string | null;
  kind: Exclude<Outcome["kind"], "filled" | "done">;
  hash: Hex;
};

const stateAfter = {
  bought: "mined",
  done: "mined",
  reverted: "failed",
  replaced: "replaced",
  filled: null,
} as const;

const rowOf = (outcome: Outcome) => ({
  hash: outcome.hash,
  kind: outcome.kind,
  state: stateAfter[outcome.kind],
  block_number: String(outcome.blockNumber),
  block_hash: outcome.blockHash,
  gas_cost: String(outcome.gasCost),
  policy_id: outcome.kind === "bought" ? String(outcome.policyId) : null,
  premium_paid: outcome.kind === "bought" ? String(outcome.premiumPaid) : null,
  code: "code" in outcome ? outcome.code : null,
  message: "message" in outcome ? outcome.message : null,
});

/**
 * Stores outcomes, and notifies the purchases' waiters on commit. Storing one twice changes nothing. An outcome in
 * another block than the stored one replaces it, because a transaction that was included again may have bought another
 * policy. Every statement locks transactions before their purchases and service transactions, and in the order of their ids: no
 * deadlocks.
 */
export async function settle(sql: Sql, outcomes: readonly Outcome[]): Promise<SettledPurchase[]> {
  if (outcomes.length === 0) return [];
  return sql<SettledPurchase[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(outcomes.map(rowOf))}::text::json) as t (
        hash text, kind text, state text, block_number bigint, block_hash text, gas_cost numeric, policy_id numeric,
        premium_paid numeric, code text, message text)
    ), locked as (
      select t.id as transaction_id, t.purchase_id, t.service_transaction_id, input.*
      from input join service.attempt a using (hash) join service.transaction t on t.id = a.transaction_id
      where t.state in ('open', 'mined') order by t.id for update of t
    ), mined as (
      update service.transaction t set state = 'mined', gas_cost = l.gas_cost from locked l where t.id = l.transaction_id
    ), service_transactions as (
      update service.service_transaction e
      set state = l.state, updated_at = now(), tx_hash = l.hash, block_number = l.block_number, block_hash = l.block_hash,
        failure_code = l.code, failure_message = l.message
      from locked l
      where e.id = l.service_transaction_id and e.state <> 'accepted' and e.final_at is null
        and (e.block_hash is distinct from l.block_hash or e.tx_hash is distinct from l.hash)
    ), settled as (
      update service.purchase p
      set state = l.state, updated_at = now(), tx_hash = l.hash, block_number = l.block_number, block_hash = l.block_hash,
        policy_id = l.policy_id, premium_paid = l.premium_paid, failure_code = l.code, failure_message = l.message
      from locked l
      where p.id = l.purchase_id and p.state <> 'accepted' and p.final_at is null
        and (p.block_hash is distinct from l.block_hash or p.tx_hash is distinct from l.hash)
      returning p.id, p.key_id, l.kind, l.hash
    )
    select id::text, key_id::text as "keyId", kind, hash, pg_notify(${PURCHASE_CHANNEL}, id::text) from settled`;
}

/** A block that settled purchases or service transactions. */
export type SettlingBlock = { number: bigint; hash: Hex };

/** The blocks at or below `height` that settled purchases or service transactions which are not final yet; at most 500. */
export async function unconfirmedBlocks(sql: Sql, chainId: number, height: bigint): Promise<SettlingBlock[]> {
  const settled = (kind: IntentKind) => sql`
    select block_number as number, block_hash as hash from ${sql(intents[kind].table)}
    where chain_id = ${chainId} and final_at is null and block_number <= ${String(height)}::bigint`;
  const rows = await sql<{ number: string; hash: Hex }[]>`
    ${settled("purchase")} union ${settled("service_transaction")} order by number limit 500`;
  return rows.map((row) => ({ number: BigInt(row.number), hash: row.hash }));
}

/**
 * Locks and reads the mined transactions of the purchases, or of the service transactions, that a block settled. A purchase may be
 * settled by another block while this waits for the lock. Postgres reads such a row again only where it updates it:
 * each caller's update therefore checks the block once more.
 */
const settledBy = (sql: Sql, kind: IntentKind, chainId: number, { number, hash }: SettlingBlock) => sql`
  select t.id, p.id as intent_id from ${sql(intents[kind].table)} p
  join service.transaction t on t.${sql(intents[kind].column)} = p.id
  where p.chain_id = ${chainId} and p.final_at is null and p.block_number = ${String(number)}::bigint
    and p.block_hash = ${hash} and t.state = 'mined'
  order by t.id for update of t`;

/** Makes the outcomes of a block final; the block is still in the chain, deep enough. */
export async function confirmBlock(sql: Sql, chainId: number, block: SettlingBlock): Promise<void> {
  const confirm = (kind: IntentKind) => sql<{ id: string }[]>`
    with locked as (${settledBy(sql, kind, chainId, block)}), done as (
      update ${sql(intents[kind].table)} p
      set state = case state when 'mined' then 'confirmed' else state end, final_at = now(), updated_at = now()
        ${kind === "purchase" ? sql`, joinable = joinable and state <> 'replaced'` : sql``}
      from locked where p.id = locked.intent_id and p.final_at is null and p.block_hash = ${block.hash}
      returning p.id
    ), final as (
      update service.transaction t set state = 'final'
      from locked join done on done.id = locked.intent_id where t.id = locked.id
    )
    select id::text ${kind === "purchase" ? sql`, pg_notify(${PURCHASE_CHANNEL}, id::text)` : sql``} from done`;
  await confirm("purchase");
  await confirm("service_transaction");
}

/**
 * Undoes the outcomes of a block that is no longer in the chain: its purchases and service transactions are `broadcast` again, and
 * their bytes are due to be sent again.
 * @returns the ids of these purchases and service transactions.
 */
export async function dropBlock(sql: Sql, chainId: number, block: SettlingBlock): Promise<string[]> {
  const drop = (kind: IntentKind) => sql<{ id: string }[]>`
    with locked as (${settledBy(sql, kind, chainId, block)}), dropped as (
      update ${sql(intents[kind].table)} p
      set state = 'broadcast', block_number = null, block_hash = null,
        ${kind === "purchase" ? sql`policy_id = null, premium_paid = null,` : sql``}
        failure_code = null, failure_message = null, updated_at = now()
      from locked where p.id = locked.intent_id and p.final_at is null and p.block_hash = ${block.hash}
      returning p.id
    ), reopened as (
      update service.transaction t set state = 'open', opened_at = now(), gas_cost = null
      from locked join dropped on dropped.id = locked.intent_id where t.id = locked.id
      returning t.id
    ), overdue as (
      update service.attempt a set last_broadcast_at = null from reopened where a.transaction_id = reopened.id
    )
    select id::text from dropped`;
  const dropped = [...(await drop("purchase")), ...(await drop("service_transaction"))];
  return dropped.map((row) => row.id);
}

/**
 * Marks a transaction lost: another transaction, `holder`, has its nonce in a block deep enough, and none of our forms
 * can ever be mined. Its purchase is accepted again: it is signed under another nonce, or fails where it is too old to
 * be signed. Its service transaction is signed again, however old it is.
 */
export async function markLost(sql: Sql, transactionId: number, holder: Hex): Promise<void> {
  // Checked in the statement: the holder may be a form that another writer has stored since the search.
  await sql`
    with lost as (
      update service.transaction set state = 'lost' where id = ${transactionId} and state = 'open'
        and not exists (select 1 from service.attempt a where a.transaction_id = ${transactionId} and a.hash = ${holder})
      returning purchase_id, service_transaction_id
    ), service_transactions as (
      update service.service_transaction e set state = 'accepted', tx_hash = null, wake_at = now(), updated_at = now()
      from lost where e.id = lost.service_transaction_id and e.state in ('signed', 'broadcast')
    )
    update service.purchase p set state = 'accepted', tx_hash = null, wake_at = now(), updated_at = now()
    from lost where p.id = lost.purchase_id and p.state in ('signed', 'broadcast')`;
}

/** The lowest nonce of the open transactions of each wallet, also of other writers' wallets. */
export async function lowestOpenNonces(
  sql: Sql,
  chainId: number,
): Promise<{ wallet: Address; nonce: number }[]> {
  const rows = await sql<{ wallet: Address; nonce: string }[]>`
    select wallet, min(nonce) as nonce from service.transaction
    where chain_id = ${chainId} and state = 'open' group by wallet`;
  return rows.map(({ wallet, nonce }) => ({ wallet, nonce: Number(nonce) }));
}

/**
 * Stores the block up to which all our mined transactions are settled. Only a reorganisation lowers its number: a
 * writer that is behind another one must not.
 */
export async function noteWatched(
  sql: Sql,
  chainId: number,
  { number, hash }: SettlingBlock,
  reorganised: boolean,
): Promise<void> {
  await sql`
    insert into service.watched_block as w (chain_id, number, hash) values (${chainId}, ${String(number)}::bigint, ${hash})
    on conflict (chain_id) do update set number = excluded.number, hash = excluded.hash, seen_at = now()
    where ${reorganised} or w.number < excluded.number`;
}
