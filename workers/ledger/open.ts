import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { IntentKind } from "./intents.ts";
import type { Signed } from "./signed.ts";

/** A signed form of an open transaction; ages in seconds by the database's clock, `sentAgo` null when never sent. */
export type OpenAttempt = Signed & {
  age: number;
  sentAgo: number | null;
  /** It is the empty transfer that takes the call's place. */
  cancels: boolean;
  /** A node has said that it has it. */
  taken: boolean;
};
/** A transaction that may still be mined, with its signed forms, oldest first. */
export type OpenTransaction = {
  id: number;
  wallet: Address;
  nonce: number;
  kind: IntentKind | "filler";
  to: Address;
  data: Hex;
  /** In wei. */
  value: bigint;
  gasLimit: bigint;
  /** Seconds since it was signed, or since its block fell out of the chain. */
  openFor: number;
  /** The operator has stopped the purchase's key or wallet. */
  stopped: boolean;
  /** The operator has stopped the relayer's wallet, or everything: nothing is to be signed or sent. */
  halted: boolean;
  attempts: OpenAttempt[];
};

type Row = {
  id: string;
  wallet: Address;
  nonce: string;
  kind: IntentKind | "filler";
  to: Address;
  data: Hex;
  value: string;
  gas_limit: string;
  hash: Hex;
  signed: Hex;
  max_fee: string;
  priority_fee: string;
  age: number;
  sent_ago: number | null;
  cancels: boolean;
  taken: boolean;
  open_for: number;
  stopped: boolean;
  halted: boolean;
};

/** The lowest `limit` open transactions of a wallet, in the order of their nonces. */
export async function openTransactions(
  sql: Sql,
  chainId: number,
  wallet: Address,
  limit: number,
): Promise<OpenTransaction[]> {
  const rows = await sql<Row[]>`
    with open as (
      select * from service.transaction
      where chain_id = ${chainId} and wallet = ${wallet} and state = 'open' order by nonce limit ${limit}
    )
    select open.id, open.wallet, nonce, kind, "to", data, open.value, gas_limit, hash, signed, max_fee, priority_fee, cancels, taken,
      extract(epoch from now() - opened_at)::float8 as open_for,
      coalesce(service.stopped_by(p.wallet, p.key_id) <> 'global', false) as stopped,
      service.stopped_by(open.wallet, null) is not null as halted,
      extract(epoch from now() - a.created_at)::float8 as age,
      extract(epoch from now() - a.last_broadcast_at)::float8 as sent_ago
    from open join service.attempt a on a.transaction_id = open.id left join service.purchase p on p.id = open.purchase_id
    order by nonce, a.id`;
  const found = new Map<number, OpenTransaction>();
  for (const row of rows) {
    const id = Number(row.id);
    const { wallet: from, kind, to, data } = row;
    const transaction = found.get(id) ?? {
      id,
      wallet: from,
      nonce: Number(row.nonce),
      kind,
      to,
      data,
      value: BigInt(row.value),
      gasLimit: BigInt(row.gas_limit),
      openFor: row.open_for,
      stopped: row.stopped,
      halted: row.halted,
      attempts: [],
    };
    transaction.attempts.push({
      hash: row.hash,
      bytes: row.signed,
      maxFee: BigInt(row.max_fee),
      priorityFee: BigInt(row.priority_fee),
      age: row.age,
      sentAgo: row.sent_ago,
      cancels: row.cancels,
      taken: row.taken,
    });
    found.set(id, transaction);
  }
  return [...found.values()];
}

/** Those of a block's transactions that are ours and not final, with what they do. */
export async function ownTransactions(
  sql: Sql,
  chainId: number,
  hashes: readonly Hex[],
): Promise<OwnTransaction[]> {
  if (hashes.length === 0) return [];
  const rows = await sql<
    (Omit<OwnTransaction, "gasLimit" | "value"> & { gas_limit: string; value: string })[]
  >`
    select a.hash, t.wallet, t.kind, t."to", t.data, t.value, t.gas_limit, a.cancels
    from unnest(${[...hashes]}::text[]) as seen (hash)
    join service.attempt a on a.hash = seen.hash,
      lateral (select * from service.transaction x where x.id = a.transaction_id offset 0) t
    where t.chain_id = ${chainId} and t.state in ('open', 'mined')`;
  return rows.map(({ gas_limit, value, ...row }) => ({
    ...row,
    value: BigInt(value),
    gasLimit: BigInt(gas_limit),
  }));
}

export type OwnTransaction = {
  hash: Hex;
  /** It is the empty transfer that takes the call's place. */
  cancels: boolean;
  wallet: Address;
  kind: IntentKind | "filler";
  to: Address;
  data: Hex;
  /** In wei. */
  value: bigint;
  gasLimit: bigint;
};
