import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { IntentKind } from "./intent-tables.ts";
import type { Call, Signed } from "./signing.ts";

/** A signed form of an open transaction; ages in seconds by the database's clock. */
export type OpenAttempt = Signed & {
  age: number;
  /** The time since it was last sent, null when it never was. */
  sentAgo: number | null;
  /** It is the empty transfer that replaces the call. */
  cancels: boolean;
  /** A node has accepted it. */
  taken: boolean;
};

/** A transaction that may still be mined, with its signed forms, oldest first. */
export type OpenTransaction = Call & {
  id: number;
  wallet: Address;
  nonce: number;
  kind: IntentKind | "filler";
  /** Seconds since it was signed, or since its block fell out of the chain. */
  openFor: number;
  /** The operator has stopped the purchase's key or wallet. */
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
type OpenRow = Decimals<Omit<OpenTransaction, "attempts">, "id" | "nonce" | "value" | "gasLimit"> &
  Decimals<OpenAttempt, "maxFee" | "priorityFee">;

/** The lowest `limit` open transactions of a wallet, in the order of their nonces. */
export async function openTransactions(
  sql: Sql,
  chainId: number,
  wallet: Address,
  limit: number,
): Promise<OpenTransaction[]> {
  const rows = await sql<OpenRow[]>`
    with open as (
      select * from service.transaction
      where chain_id = ${chainId} and wallet = ${wallet} and state = 'open' order by nonce limit ${limit}
    )
    select open.id, open.wallet, nonce, kind, "to", data, open.value, gas_limit as "gasLimit", hash, signed as bytes,
      max_fee as "maxFee", priority_fee as "priorityFee", cancels, taken,
      extract(epoch from now() - opened_at)::float8 as "openFor",
      coalesce(service.stopped_by(p.wallet, p.key_id) <> 'global', false) as stopped,
      service.stopped_by(open.wallet, null) is not null as halted,
      extract(epoch from now() - a.created_at)::float8 as age,
      extract(epoch from now() - a.last_broadcast_at)::float8 as "sentAgo"
    from open join service.attempt a on a.transaction_id = open.id left join service.purchase p on p.id = open.purchase_id
    order by nonce, a.id`;
  const found = new Map<string, OpenTransaction>();
  for (const { hash, bytes, maxFee, priorityFee, age, sentAgo, cancels, taken, ...row } of rows) {
    const transaction = found.get(row.id) ?? {
      ...row,
      id: Number(row.id),
      nonce: Number(row.nonce),
      value: BigInt(row.value),
      gasLimit: BigInt(row.gasLimit),
      attempts: [],
    };
    const fees = { maxFee: BigInt(maxFee), priorityFee: BigInt(priorityFee) };
    transaction.attempts.push({ hash, bytes, ...fees, age, sentAgo, cancels, taken });
    found.set(row.id, transaction);
  }
  return [...found.values()];
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
