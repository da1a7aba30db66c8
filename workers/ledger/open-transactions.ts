import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { TransactionKind } from "../../lib/ledger/transaction-kind.ts";
import type { Call } from "./assign-nonces.ts";
import type { Signed } from "./attempts.ts";

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
  Pick<OpenTransaction, "wallet" | "kind"> &
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
      t.gas_reserved as reserved, t.dropped_hash as "droppedHash",
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
    select a.hash, t.wallet, t.kind, t."to", t.data, t.value, t.gas_limit as "gasLimit", a.cancels
    from unnest(${[...hashes]}::text[]) as seen (hash)
    join service.attempt a on a.hash = seen.hash,
      lateral (select * from service.transaction x where x.id = a.transaction_id offset 0) t
    where t.chain_id = ${chainId} and t.state in ('open', 'mined')`;
  return rows.map((row) => ({ ...row, value: BigInt(row.value), gasLimit: BigInt(row.gasLimit) }));
}
