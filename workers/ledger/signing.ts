import type { Sql, TransactionSql } from "postgres";
import type { Address, Hex } from "viem";
import { type Candidate, readCandidates, readSpending, type Spending } from "./gas-spending.ts";
import { type IntentKind, intents } from "./intent-tables.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";

/** The call of a transaction; `value` in wei, `gasLimit` in gas. */
export type Call = { to: Address; data: Hex; value: bigint; gasLimit: bigint };
/** A signed transaction; fees in wei per gas. */
export type Signed = { hash: Hex; bytes: Hex; maxFee: bigint; priorityFee: bigint };
/** A purchase or a service transaction that was signed. */
export type SignedIntent = { id: string; nonce: number; signed: Signed };

/** A purchase that was not signed within this time fails, in seconds: its client no longer waits. */
export const SIGN_WITHIN_SECONDS = 60;

/** Locks the chain's budgets until the transaction ends, so that signing rounds of all writers follow each other. */
export const lockBudgets = (tx: TransactionSql, chainId: number) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`service:sign:${chainId}`}, 0))`;

async function takeNonces(sql: TransactionSql, lease: Lease, count: number): Promise<number> {
  const [row] = await sql<{ first: string }[]>`
    update service.relayer_wallet set next_nonce = next_nonce + ${count}
    where ${leaseHeld(sql, lease)} and next_nonce is not null
    returning next_nonce - ${count} as first`;
  if (!row) throw new LeaseLost(lease);
  return Number(row.first);
}

export type SigningRound<Choice> = {
  lease: Lease;
  /** Each purchase's call, by its id. */
  calls: ReadonlyMap<string, Call>;
  /** Chooses which of the purchases are signed, from the costs so far. */
  choose: (candidates: readonly Candidate[], spending: Spending) => Choice;
  sign: (nonce: number, call: Call) => Promise<Signed>;
};

export type Signing = {
  kind: IntentKind;
  lease: Lease;
  /** The calls to sign, in the order of their nonces. */
  calls: readonly { id: string; call: Call }[];
  sign: (nonce: number, call: Call) => Promise<Signed>;
};

/**
 * Gives each call a nonce, signs it and stores the bytes: there is never a nonce without its row, nor a row without its
 * bytes. The statement that takes the nonces checks the fencing token, and its lock on the wallet's row keeps the token
 * valid until the transaction ends. Throws {@link LeaseLost}.
 */
export async function signAll(
  tx: TransactionSql,
  { kind, lease, calls, sign }: Signing,
): Promise<SignedIntent[]> {
  const first = await takeNonces(tx, lease, calls.length);
  const done: (SignedIntent & { call: Call })[] = [];
  for (const [offset, { id, call }] of calls.entries()) {
    const nonce = first + offset;
    done.push({ id, nonce, call, signed: await sign(nonce, call) });
  }
  await store(tx, kind, lease, done);
  return done.map(({ id, nonce, signed }) => ({ id, nonce, signed }));
}

/**
 * Signs the chosen purchases in one transaction ({@link signAll}). Rounds of all writers follow each other, so that
 * they stay within the budgets together. Candidates are the purchases that are still accepted and not too old. Throws
 * {@link LeaseLost}.
 */
export async function signPurchases<Choice extends { sign: readonly string[] }>(
  sql: Sql,
  { lease, calls, choose, sign }: SigningRound<Choice>,
): Promise<{ choice: Choice; signed: SignedIntent[] }> {
  return sql.begin(async (tx) => {
    const [, candidates] = await Promise.all([
      lockBudgets(tx, lease.chainId),
      readCandidates(tx, lease, [...calls.keys()], SIGN_WITHIN_SECONDS),
    ]);
    const choice = choose(candidates, await readSpending(tx, lease, candidates));
    if (choice.sign.length === 0) return { choice, signed: [] };
    const chosen = choice.sign.map((id) => {
      const call = calls.get(id);
      if (!call) throw new Error(`purchase ${id} is not part of this round`);
      return { id, call };
    });
    return { choice, signed: await signAll(tx, { kind: "purchase", lease, calls: chosen, sign }) };
  });
}

async function store(
  tx: TransactionSql,
  kind: IntentKind,
  lease: Lease,
  done: readonly (SignedIntent & { call: Call })[],
): Promise<void> {
  const { table, column } = intents[kind];
  const rows = done.map(({ id, nonce, call: { to, data, value, gasLimit }, signed }) => ({
    intent_id: id,
    nonce,
    to,
    data,
    value: String(value),
    gas_limit: String(gasLimit),
    hash: signed.hash,
    signed: signed.bytes,
    max_fee: String(signed.maxFee),
    priority_fee: String(signed.priorityFee),
  }));
  await tx`
    with input as (
      select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as t (
        intent_id uuid, nonce bigint, "to" text, data text, value numeric, gas_limit bigint, hash text, signed text,
        max_fee numeric, priority_fee numeric)
    ), stored as (
      insert into service.transaction (
        chain_id, wallet, nonce, kind, ${tx(column)}, "to", data, value, gas_limit, gas_reserved)
      select ${lease.chainId}::integer, ${lease.address}::text, nonce, ${kind}::text, intent_id, "to", data, value, gas_limit,
        gas_limit * max_fee from input
      returning id, ${tx(column)} as intent_id
    ), attempts as (
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token)
      select hash, stored.id, signed, max_fee, priority_fee, ${lease.token}::bigint from input join stored using (intent_id)
    )
    update ${tx(table)} p set state = 'signed', tx_hash = input.hash, updated_at = now()
    from input where p.id = input.intent_id`;
}

/**
 * Stores another signed form of the same nonce: the same call at a higher fee, or, with `cancels`, the empty transfer
 * that replaces it. False when the transaction is no longer open or has this form already. Throws {@link LeaseLost}.
 */
export async function storeForm(
  sql: Sql,
  lease: Lease,
  transactionId: number,
  { signed, cancels }: { signed: Signed; cancels: boolean },
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const held = await tx`select 1 from service.relayer_wallet where ${leaseHeld(tx, lease)} for share`;
    if (held.length === 0) throw new LeaseLost(lease);
    const stored = await tx`
      with open as (
        update service.transaction
        set gas_reserved = greatest(gas_reserved, gas_limit * ${String(signed.maxFee)}::numeric)
        where id = ${transactionId} and state = 'open' and wallet = ${lease.address} returning id, purchase_id, service_transaction_id
      ), moved as (
        update service.purchase p set tx_hash = ${signed.hash}, updated_at = now()
        from open where p.id = open.purchase_id and p.state in ('signed', 'broadcast') and not ${cancels}::boolean
      ), moved_service_transaction as (
        update service.service_transaction e set tx_hash = ${signed.hash}, updated_at = now()
        from open where e.id = open.service_transaction_id and e.state in ('signed', 'broadcast')
      )
      insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token, cancels)
      select ${signed.hash}::text, id, ${signed.bytes}::text, ${String(signed.maxFee)}::numeric,
        ${String(signed.priorityFee)}::numeric, ${lease.token}::bigint, ${cancels}::boolean from open
      on conflict (hash) do nothing returning hash`;
    return stored.length > 0;
  });
}

/** Stores that bytes were sent; where a node accepted them, their purchase or service transaction is `broadcast`. */
export async function markSent(sql: Sql, sent: readonly { hash: Hex; accepted: boolean }[]): Promise<void> {
  if (sent.length === 0) return;
  const hashes = sent.map(({ hash }) => hash);
  const accepted = sent.flatMap((one) => (one.accepted ? [one.hash] : []));
  await sql`
    with locked as (
      select a.hash, t.purchase_id, t.service_transaction_id, a.hash = any(${accepted}::text[]) as accepted
      from unnest(${hashes}::text[]) as sent (hash) join service.attempt a on a.hash = sent.hash
      join service.transaction t on t.id = a.transaction_id order by t.id for update of t
    ), noted as (
      update service.attempt a set last_broadcast_at = now(), taken = a.taken or l.accepted from locked l where a.hash = l.hash
    ), service_transactions as (
      update service.service_transaction e set state = 'broadcast', updated_at = now()
      from locked l where l.accepted and e.id = l.service_transaction_id and e.state = 'signed'
    )
    update service.purchase p set state = 'broadcast', updated_at = now()
    from locked l where l.accepted and p.id = l.purchase_id and p.state = 'signed'`;
}

/**
 * Those of the signed transactions that the operator's stops forbid to send. A stop may be for everything, for a
 * relayer's wallet, or for the purchases of a key or of its wallet; the last two do not stop fillers and cancelling
 * transfers.
 */
export async function stoppedHashes(sql: Sql, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>> {
  const rows = await sql<{ hash: Hex }[]>`
    select a.hash from service.attempt a join service.transaction t on t.id = a.transaction_id
    left join service.purchase p on p.id = t.purchase_id
    where a.hash = any(${[...hashes]}::text[]) and (
      service.stopped_by(t.wallet, null) is not null
      or (p.id is not null and not a.cancels and service.stopped_by(p.wallet, p.key_id) is not null))`;
  return new Set(rows.map((row) => row.hash));
}
