import type { ISql, Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrorCode } from "../../lib/errors.ts";
import type { TransactionKind } from "../../lib/ledger/transaction-kind.ts";

/** The outcome of one of our signed transactions in a block; `premiumPaid` has 6 decimals, `gasCost` is in wei. */
export type Outcome = { hash: Hex; blockNumber: bigint; blockHash: Hex; gasCost: bigint } & (
  | { kind: "bought"; policyId: bigint; premiumPaid: bigint }
  /** A service transaction or a filler is mined. */
  | { kind: "done" }
  /** `failedBy`: whether the buyer caused the revert, or the protocol and its operators did. */
  | { kind: "reverted"; code: ErrorCode; message: string; failedBy: "buyer" | "protocol" }
  /** An empty transfer replaced a purchase that had waited too long. */
  | { kind: "replaced"; code: ErrorCode; message: string }
);

/** A purchase whose outcome was stored; `keyId` is a decimal, null for a purchase of the sandbox. */
export type SettledPurchase = {
  id: string;
  keyId: string | null;
  kind: Exclude<Outcome["kind"], "done">;
  hash: Hex;
};

const rowOf = (outcome: Outcome) => ({
  hash: outcome.hash,
  kind: outcome.kind,
  outcome: outcome.kind === "bought" ? "done" : outcome.kind,
  block_number: String(outcome.blockNumber),
  block_hash: outcome.blockHash,
  gas_cost: String(outcome.gasCost),
  policy_id: outcome.kind === "bought" ? String(outcome.policyId) : null,
  premium_paid: outcome.kind === "bought" ? String(outcome.premiumPaid) : null,
  code: "code" in outcome ? outcome.code : null,
  message: "message" in outcome ? outcome.message : null,
  failed_by: "failedBy" in outcome ? outcome.failedBy : null,
});

/**
 * Stores outcomes; a trigger tells their waiters on commit. Storing one twice changes nothing. An outcome in another block
 * than the stored one replaces it, because a transaction that was included again may have bought another policy; so does another
 * outcome in the same block, because a node may have told it wrong. Every statement locks transactions in the order of their ids:
 * no deadlocks.
 */
export async function settle(sql: Sql, outcomes: readonly Outcome[]): Promise<SettledPurchase[]> {
  if (outcomes.length === 0) return [];
  return sql<SettledPurchase[]>`
    with input as (
      select * from json_to_recordset(${JSON.stringify(outcomes.map(rowOf))}::text::json) as t (
        hash text, kind text, outcome text, block_number bigint, block_hash text, gas_cost numeric, policy_id numeric,
        premium_paid numeric, code text, message text, failed_by text)
    ), locked as (
      select t.id, input.* from input join service.attempt a using (hash) join service.transaction t on t.id = a.transaction_id
      where t.state in ('open', 'mined') order by t.id for update of t
    ), settled as (
      update service.transaction t
      set hash = l.hash, block_number = l.block_number, block_hash = l.block_hash, outcome = l.outcome, gas_cost = l.gas_cost,
        settled_at = now(), policy_id = l.policy_id, premium_paid = l.premium_paid, failure_code = l.code,
        failure_message = l.message, failed_by = l.failed_by
      from locked l
      where t.id = l.id and (t.block_hash, t.hash, t.outcome, t.policy_id) is distinct from (l.block_hash, l.hash, l.outcome, l.policy_id)
      returning t.intent, l.kind, l.hash
    )
    select p.id::text, p.key_id::text as "keyId", s.kind, s.hash
    from settled s join service.purchase p on p.id = s.intent`;
}

/** A block that settled transactions. */
export type SettlingBlock = { number: bigint; hash: Hex };

/** The stored outcome of one of our mined transactions; `policyId` is a decimal. */
export type StoredOutcome = {
  hash: Hex;
  kind: TransactionKind;
  outcome: "done" | "reverted" | "replaced";
  policyId: string | null;
};

/**
 * How many blocks below the first final one the ledger still compares with the chain after a reorganisation: a
 * reorganisation deeper than the confirmations undoes outcomes that were final.
 */
const WATCHED_DEPTH = 64n;

/**
 * Reads the blocks up to `highest` that settled transactions, and in `outcomes` those that are not final. Reads blocks without such
 * outcomes too if `final` is set. At most 500.
 */
export async function settlingBlocks(
  sql: Sql,
  chainId: number,
  highest: bigint,
  { final }: { final: boolean },
): Promise<(SettlingBlock & { outcomes: readonly StoredOutcome[] })[]> {
  const rows = await sql<{ number: string; hash: Hex; outcomes: StoredOutcome[] | null }[]>`
    select t.block_number as number, t.block_hash as hash, json_agg(json_build_object('hash', t.hash, 'kind', t.kind,
      'outcome', t.outcome, 'policyId', t.policy_id::text)) filter (where t.final_at is null) as outcomes
    from service.relayer_wallet w cross join lateral service.transactions_from(w.chain_id, w.address, w.final_below) t
    where w.chain_id = ${chainId} and t.block_number <= ${String(highest)}::bigint and (${final} or t.final_at is null)
    group by 1, 2 order by 1 limit 500`;
  return rows.map(({ number, hash, outcomes }) => ({
    number: BigInt(number),
    hash,
    outcomes: outcomes ?? [],
  }));
}

/**
 * The transactions of blocks, locked. One may be settled by another block while this waits for the lock. Postgres reads
 * such a row again only where it updates it: each caller's update therefore checks the block once more. Rows of a function
 * cannot be locked, so the table is joined once more too.
 */
function settledBy(sql: Sql, blocks: readonly SettlingBlock[]) {
  const hashes = blocks.map(({ hash }) => hash);
  return sql`
  select t.id, t.wallet, t.nonce, t.block_hash from wallets w
  cross join lateral service.transactions_from(w.chain_id, w.address, w.final_below) watched
  join service.transaction t on t.id = watched.id
  where watched.block_hash = any(${hashes}::text[]) and t.block_hash = any(${hashes}::text[])
  order by t.id for update of t`;
}

/** Makes the outcomes of blocks final; the blocks are still in the chain, deep enough. */
export async function confirmBlocks(
  sql: Sql,
  chainId: number,
  blocks: readonly SettlingBlock[],
): Promise<void> {
  if (blocks.length === 0) return;
  await sql`
    with wallets as (select * from service.relayer_wallet where chain_id = ${chainId}),
      locked as (${settledBy(sql, blocks)})
    update service.transaction t set final_at = now()
    from locked where t.id = locked.id and t.final_at is null and t.block_hash = locked.block_hash`;
}

/**
 * Undoes the outcomes of blocks that are no longer in the chain, also final ones: their transactions are open again, and
 * the form that was mined is due to be sent again.
 * @returns the hashes of these forms.
 */
export async function dropBlocks(
  sql: Sql,
  chainId: number,
  blocks: readonly SettlingBlock[],
): Promise<Hex[]> {
  if (blocks.length === 0) return [];
  const rows = await sql<{ hash: Hex }[]>`
    with wallets as (${lockedWallets(sql, chainId)}), locked as (${settledBy(sql, blocks)}) ${reopen(sql, chainId)}`;
  return rows.map(({ hash }) => hash);
}

/** Wallets are locked before their transactions: no deadlock with a writer that stores forms. */
const lockedWallets = (sql: Sql, chainId: number) => sql`
  select * from service.relayer_wallet where chain_id = ${chainId} order by address for update`;

/** Opens the transactions of `locked` again, unless another block has settled them meanwhile; a fence among them is to be mined again. */
const reopen = (sql: Sql, chainId: number) => sql`
  , lowered as (
    update service.relayer_wallet w
    set open_from = least(w.open_from, l.nonce), final_below = least(w.final_below, l.nonce),
      fenced_with = case when l.nonce < w.fence_below then null else w.fenced_with end
    from (select wallet, min(nonce) as nonce from locked group by wallet) l
    where w.chain_id = ${chainId} and w.address = l.wallet
  ), reopened as (
    update service.transaction t
    set opened_at = now(), dropped_hash = t.hash, hash = null, block_number = null, block_hash = null, outcome = null, gas_cost = null,
      settled_at = null, policy_id = null, premium_paid = null, failure_code = null, failure_message = null,
      failed_by = null, final_at = null
    from locked where t.id = locked.id and t.block_hash = locked.block_hash
    returning t.id
  )
  update service.attempt a set last_broadcast_at = null from reopened where a.transaction_id = reopened.id returning a.hash`;

/**
 * Whether the ledger has a final transaction of the wallet with a nonce from `minedNonce` on, which the chain lacks.
 *
 * @param head only transactions in blocks up to this one count: a node that has not read the others yet lacks them too.
 */
export async function lacksFinal(
  sql: Sql,
  chainId: number,
  wallet: Address,
  minedNonce: number,
  head?: bigint,
): Promise<boolean> {
  const highest = head === undefined ? null : String(head);
  // The order makes Postgres use the index of nonces.
  const rows = await sql`
    select 1 from service.transaction
    where chain_id = ${chainId} and wallet = ${wallet} and nonce >= ${minedNonce} and state = 'final'
      and coalesce(block_number <= ${highest}::bigint, true) order by nonce limit 1`;
  return rows.length > 0;
}

/**
 * Opens the final transactions of a wallet again that have a nonce from `minedNonce` on, because the chain lacks them: a
 * reorganisation went deeper than the watched blocks.
 * @returns the hashes of their forms.
 */
export async function reopenFinal(
  sql: Sql,
  chainId: number,
  wallet: Address,
  minedNonce: number,
): Promise<Hex[]> {
  const rows = await sql<{ hash: Hex }[]>`
    with wallets as (${lockedWallets(sql, chainId)}), locked as (
      select t.id, t.wallet, t.nonce, t.block_hash from wallets w
      join service.transaction t on t.chain_id = ${chainId} and t.wallet = w.address and t.nonce >= ${minedNonce}
      where w.address = ${wallet} and t.state = 'final' order by t.id for update of t
    ) ${reopen(sql, chainId)}`;
  return rows.map(({ hash }) => hash);
}

/** Lets each wallet forget its settled transactions: those that are no longer open, and those final below the watched blocks. */
export async function raiseWatermarks(sql: ISql, chainId: number, deep: bigint): Promise<void> {
  await sql`select service.raise_watermarks(${chainId}, ${String(deep - WATCHED_DEPTH)}::bigint)`;
}

/** Lets the purchases and service transactions of `given` wait to be signed again, a permit with its purchase; of the same age. */
export const waitAgain = (sql: ISql) => sql`
  insert into service.waiting (intent, kind, chain_id, payer, premium, group_id, created_at, wake_at)
  select g.intent, g.kind, g.chain_id, g.payer, p.quoted_premium, coalesce(e.claim_id, g.intent),
    coalesce(p.created_at, e.created_at), now()
  from given g left join service.purchase p on p.id = g.intent left join service.service_transaction e on e.id = g.intent
  where g.kind not in ('permit', 'filler')`;

/**
 * Marks a transaction lost: another transaction, `holder`, has its nonce in a block deep enough, and none of our forms
 * can ever be mined. What it was for waits to be signed again under another nonce; a purchase fails where it is too old,
 * a service transaction is signed however old it is.
 */
export async function markLost(sql: Sql, transactionId: number, holder: Hex): Promise<void> {
  // Checked in the statement: the holder may be a form that another writer has stored since the search.
  await sql`
    with given as (
      update service.transaction set lost_to = ${holder} where id = ${transactionId} and state = 'open'
        and not exists (select 1 from service.attempt a where a.transaction_id = ${transactionId} and a.hash = ${holder})
      returning intent, kind, chain_id, payer
    ) ${waitAgain(sql)}`;
}

/** The lowest nonce of the open transactions of each wallet, also of other writers' wallets. */
export async function lowestOpenNonces(
  sql: Sql,
  chainId: number,
): Promise<{ wallet: Address; nonce: number }[]> {
  const rows = await sql<{ wallet: Address; nonce: string }[]>`
    select t.wallet, min(t.nonce) as nonce from service.relayer_wallet w
    join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
    where w.chain_id = ${chainId} group by t.wallet`;
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
