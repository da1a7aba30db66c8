import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { TransactionKind } from "../../lib/ledger/transaction-kind.ts";
import type { Call } from "./assign-nonces.ts";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";

/** A signed transaction; fees in wei per gas. */
export type Signed = { hash: Hex; bytes: Hex; maxFee: bigint; priorityFee: bigint };

/** A signed form of an open transaction. `cancels`: it is the empty transfer that replaces the call. */
export type Form = {
  transactionId: number;
  signed: Signed;
  cancels: boolean;
  /** The most that its gas may cost, in wei. */
  cost: bigint;
};

/**
 * Stores signed forms, before they are sent: the first of a nonce, the same call at a higher fee, or a cancellation.
 *
 * @returns the stored forms by their hashes, and whether the operator has stopped each. Forms of transactions that are no longer open,
 * and those that are stored already, are left out.
 * @throws LeaseLost with nothing stored.
 */
export async function storeForms(
  sql: Sql,
  lease: Lease,
  forms: readonly Form[],
): Promise<ReadonlyMap<Hex, { stopped: boolean }>> {
  const input = forms.map(({ transactionId, signed, cancels, cost }, n) => ({
    n,
    transaction_id: transactionId,
    hash: signed.hash,
    signed: signed.bytes,
    max_fee: String(signed.maxFee),
    priority_fee: String(signed.priorityFee),
    cancels,
    cost: String(cost),
  }));
  // A transaction of its own: the statement of a writer that dies while it waits is rolled back.
  return sql.begin(async (tx) => {
    const [row] = await tx<{ held: boolean; stored: { hash: Hex; stopped: boolean }[] }[]>`
      with held as materialized (select from service.relayer_wallet where ${leaseHeld(tx, lease)} for share),
      forms as (
        select * from json_to_recordset(${JSON.stringify(input)}::text::json) as f (
          n int, transaction_id bigint, hash text, signed text, max_fee numeric, priority_fee numeric, cancels boolean,
          cost numeric)
      ), open as (
        select t.id, t.gas_reserved from held, service.transaction t join forms on forms.transaction_id = t.id
        where t.state = 'open' and t.chain_id = ${lease.chainId} and t.wallet = ${lease.address} order by t.id for update of t
      ), costlier as (
        update service.transaction t set gas_reserved = forms.cost from forms join open on open.id = forms.transaction_id
        where t.id = open.id and forms.cost > open.gas_reserved
      ), stored as (
        insert into service.attempt (hash, transaction_id, signed, max_fee, priority_fee, fencing_token, cancels)
        select f.hash, open.id, f.signed, f.max_fee, f.priority_fee, ${lease.token}::bigint, f.cancels
        from forms f join open on open.id = f.transaction_id order by f.n
        on conflict (hash) do nothing returning hash, transaction_id, cancels
      )
      select exists (select from held) as held, (
        select coalesce(json_agg(json_build_object(
          'hash', hash, 'stopped', service.is_withheld(transaction_id, cancels))), '[]')
        from stored) as stored`;
    if (!row?.held) throw new LeaseLost(lease);
    return new Map(row.stored.map(({ hash, stopped }) => [hash, { stopped }]));
  });
}

/** A broadcast of a form. A failed one does not undo that a node took the form at an earlier one. */
export type Sent = { hash: Hex; taken: boolean; again: boolean };

/** Notes broadcasts. The first one of a form that a node accepts is not noted: a stored form counts as sent. */
export async function noteSent(sql: Sql, sent: readonly Sent[]): Promise<void> {
  if (sent.length === 0) return;
  const hashes = sent.map(({ hash }) => hash);
  const taken = sent.flatMap((one) => (one.taken ? [one.hash] : []));
  const failed = sent.flatMap((one) => (one.taken || one.again ? [] : [one.hash]));
  await sql`
    update service.attempt set last_broadcast_at = now(), untaken = case
      when hash = any(${taken}::text[]) then false when hash = any(${failed}::text[]) then true else untaken end
    where hash = any(${hashes}::text[])`;
}

/** Those of the signed transactions that may not be sent: the operator has stopped them, or the database has lost them. */
export async function withheldHashes(sql: Sql, hashes: readonly Hex[]): Promise<ReadonlySet<Hex>> {
  const rows = await sql<{ hash: Hex }[]>`
    select seen.hash from unnest(${[...hashes]}::text[]) as seen (hash)
    left join service.attempt a on a.hash = seen.hash
    where a.hash is null or service.is_withheld(a.transaction_id, a.cancels)`;
  return new Set(rows.map((row) => row.hash));
}

/** A signed form of an open transaction; ages in seconds by the database's clock. */
export type OpenAttempt = Signed & {
  age: number;
  /** The time since it was last sent; null when it is due to be sent again. */
  sentAgo: number | null;
  /** It is the empty transfer that replaces the call. */
  cancels: boolean;
  /** No node has said that it took it. */
  untaken: boolean;
};

/** A transaction that may still be mined, with its signed forms, oldest first; none before the first is stored. */
export type OpenTransaction = Call & {
  id: number;
  wallet: Address;
  nonce: number;
  kind: TransactionKind;
  /** The contract whose code it runs: a receiver of bonds, or a permit's owner; null: nobody's but the protocol's. */
  runsCodeOf: Address | null;
  /**
   * The form that is to be mined: the newest, or the one that was in a block which fell out of the chain, until another is
   * signed. Undefined before the first is stored.
   */
  wanted: Hex | undefined;
  /** The most that its forms may cost, in wei. */
  reserved: bigint;
  /** Seconds since it got its nonce, or since its block fell out of the chain. */
  openFor: number;
  /**
   * The operator has stopped the key or the wallet of the purchase, or of the permit's purchase; or a reorganisation opened
   * the purchase again after its idempotency key was used for a newer one. A permit goes on then: the newer one may need it.
   */
  stopped: boolean;
  /** The operator has stopped the relayer's wallet, or everything: nothing may be signed or sent. */
  halted: boolean;
  attempts: OpenAttempt[];
};

/** One of our transactions in a block; `hash` is that of the signed form that was mined. */
export type OwnTransaction = Call &
  Pick<OpenTransaction, "wallet" | "kind" | "runsCodeOf"> &
  Pick<OpenAttempt, "hash" | "cancels">;

/** Postgres returns numerics and bigints as decimals. */
type Decimals<T, K extends keyof T> = Omit<T, K> & Record<K, string>;
type OpenRow = Decimals<
  Omit<OpenTransaction, "attempts" | "wanted">,
  "id" | "nonce" | "value" | "gasLimit" | "reserved"
> & {
  droppedHash: Hex | null;
  attempts: Decimals<OpenAttempt, "maxFee" | "priorityFee">[];
};

/** The lowest `limit` open transactions of a wallet, in the order of their nonces. */
export async function openTransactions(
  sql: Sql,
  chainId: number,
  wallet: Address,
  limit: number,
): Promise<OpenTransaction[]> {
  const rows = await sql<OpenRow[]>`
    select t.id, t.wallet, t.nonce, t.kind, t."to", t.data, t.value, t.gas_limit as "gasLimit",
      t.runs_code_of as "runsCodeOf", t.gas_reserved as reserved, t.dropped_hash as "droppedHash",
      extract(epoch from now() - t.opened_at)::float8 as "openFor",
      coalesce(service.stopped_by(p.wallet, p.key_id) <> 'global', false)
        or t.kind = 'purchase' and p.idempotency_key is not null and not p.answers_repeats as stopped,
      service.stopped_by(t.wallet, null) is not null as halted, coalesce(a.attempts, '[]') as attempts
    from service.relayer_wallet w
    cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t
    left join service.permit m on m.id = t.intent
    left join service.purchase p on p.id = coalesce(m.purchase_id, t.intent)
    left join lateral (
      select json_agg(json_build_object('hash', hash, 'bytes', signed, 'maxFee', max_fee::text,
        'priorityFee', priority_fee::text, 'cancels', cancels, 'untaken', untaken,
        'age', extract(epoch from now() - created_at), 'sentAgo', extract(epoch from now() - last_broadcast_at)
        ) order by id) as attempts
      from service.attempt where transaction_id = t.id) a on true
    where w.chain_id = ${chainId} and w.address = ${wallet} and t.state = 'open' order by t.nonce limit ${limit}`;
  return rows.map(({ attempts, droppedHash, ...row }) => ({
    ...row,
    wanted: attempts.findLast(({ age }) => age <= row.openFor)?.hash ?? droppedHash ?? attempts.at(-1)?.hash,
    reserved: BigInt(row.reserved),
    id: Number(row.id),
    nonce: Number(row.nonce),
    value: BigInt(row.value),
    gasLimit: BigInt(row.gasLimit),
    attempts: attempts.map(({ maxFee, priorityFee, ...attempt }) => ({
      ...attempt,
      maxFee: BigInt(maxFee),
      priorityFee: BigInt(priorityFee),
    })),
  }));
}

/** Our transactions among these hashes that are not final. */
export async function ownTransactions(
  sql: Sql,
  chainId: number,
  hashes: readonly Hex[],
): Promise<OwnTransaction[]> {
  if (hashes.length === 0) return [];
  const rows = await sql<Decimals<OwnTransaction, "value" | "gasLimit">[]>`
    select a.hash, t.wallet, t.kind, t."to", t.data, t.value, t.gas_limit as "gasLimit", a.cancels,
      t.runs_code_of as "runsCodeOf"
    from unnest(${[...hashes]}::text[]) as seen (hash)
    join service.attempt a on a.hash = seen.hash,
      lateral (select * from service.transaction x where x.id = a.transaction_id offset 0) t
    where t.chain_id = ${chainId} and t.state in ('open', 'mined')`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value), gasLimit: BigInt(row.gasLimit) }));
}

/**
 * A wallet's counts of transactions: those that the node has mined, and those with the ones in its pool. Null: not asked for now.
 */
export type WalletCounts = { address: Address; mined: number | null; pooled: number | null };

/**
 * Those of the wallets that the recovery has to look at: with open or unknown transactions, or a ledger that lacks nonces of the
 * chain, or has final transactions that the chain lacks.
 *
 * @param counts read before this call: the ledger's only rise.
 */
export async function busyWallets(
  sql: Sql,
  chainId: number,
  counts: readonly WalletCounts[],
): Promise<Set<Address>> {
  // The order makes Postgres use the index of nonces.
  const rows = await sql<{ address: Address }[]>`
    select w.address
    from json_to_recordset(${JSON.stringify(counts)}::text::json) as c (address text, mined bigint, pooled bigint)
    join service.relayer_wallet w on w.chain_id = ${chainId} and w.address = c.address
    where w.unknown_below is not null or c.pooled > w.next_nonce
      or exists (select 1 from service.transactions_from(w.chain_id, w.address, w.open_from) t where t.state = 'open')
      or (select true from service.transaction t
        where t.chain_id = ${chainId} and t.wallet = w.address and t.nonce >= c.mined and t.state = 'final'
        order by t.nonce limit 1)`;
  return new Set(rows.map(({ address }) => address));
}
