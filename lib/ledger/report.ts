/** Reads transactions in flight, waiting and failed entries, and nonce gaps. Ages are seconds by the database's clock. */
import type { ISql } from "postgres";
import type { Address, Hex } from "viem";
import { serviceTransactionPurposes } from "./service-transaction-figures.ts";
import type { TransactionKind } from "./transaction-kind.ts";

/** Why the service sends transactions of its own, on the testnet and as the keeper. */
export const servicePurposes = [
  ...serviceTransactionPurposes,
  "keeper_trigger",
  "keeper_expire",
  "keeper_queue",
] as const;
export type ServicePurpose = (typeof servicePurposes)[number];

/** The states of a purchase, permit or service transaction whose transaction may still be mined. */
export const openStates = ["accepted", "signed", "broadcast"] as const;

/** The place of a transaction in flight: since when it is open, in microseconds of the Unix time, and the row's id. */
export type FlightPosition = { readonly openedAt: bigint; readonly transactionId: bigint };

/** A transaction that may still be mined, with its newest attempt's fees in wei per gas: null while it has a nonce only. */
export type FlightReport = FlightPosition & {
  chainId: number;
  wallet: Address;
  nonce: number;
  kind: TransactionKind;
  /** The state of its purchase, permit or service transaction; null for a filler, which has none. */
  state: (typeof openStates)[number] | null;
  /** The id of the purchase or service transaction; of a permit, that of its purchase. */
  id: string | null;
  /** Null unless it belongs to a service transaction. */
  purpose: ServicePurpose | null;
  age: number;
  attempts: number;
  /** Whether one of the attempts cancels it. */
  cancels: boolean;
  maxFee: bigint | null;
  priorityFee: bigint | null;
  /** Seconds since the newest attempt was last sent; null when it never was. */
  sentAgo: number | null;
};

type FlightRow = Omit<FlightReport, "maxFee" | "priorityFee" | keyof FlightPosition> & {
  maxFee: string | null;
  priorityFee: string | null;
  openedAt: string;
  transactionId: string;
};
const wei = (decimals: string | null): bigint | null => (decimals === null ? null : BigInt(decimals));

/** The transactions in flight that are at least `minAge` seconds old, oldest first; those after a position, if there is one. */
export async function reportFlights(
  sql: ISql,
  { minAge, limit, after }: { minAge: number; limit: number; after?: FlightPosition | undefined },
): Promise<FlightReport[]> {
  const openedAt = sql`(extract(epoch from t.opened_at) * 1000000)::bigint`;
  const isAfter = after
    ? sql`and (${openedAt}, t.id) > (${String(after.openedAt)}::bigint, ${String(after.transactionId)}::bigint)`
    : sql``;
  const rows = await sql<FlightRow[]>`
    select t.chain_id as "chainId", t.wallet, t.nonce::float8 as nonce, t.kind, case when t.intent is not null
        then case when newest.hash is null then 'accepted' when newest.untaken then 'signed' else 'broadcast' end end as state,
      coalesce((select purchase_id from service.permit where id = t.intent), t.intent) as id,
      (select purpose from service.service_transaction where id = t.intent) as purpose,
      extract(epoch from now() - t.opened_at)::float8 as age, a.attempts, a.cancels,
      newest.max_fee as "maxFee", newest.priority_fee as "priorityFee",
      extract(epoch from now() - newest.last_broadcast_at)::float8 as "sentAgo",
      ${openedAt} as "openedAt", t.id as "transactionId"
    from service.relayer_wallet w cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t
    cross join lateral (
      select count(*)::int as attempts, coalesce(bool_or(cancels), false) as cancels from service.attempt where transaction_id = t.id) a
    left join lateral (
      select hash, untaken, max_fee, priority_fee, last_broadcast_at from service.attempt
      where transaction_id = t.id order by id desc limit 1) newest on true
    where t.state = 'open' and t.opened_at <= now() - make_interval(secs => ${minAge}) ${isAfter}
    order by ${openedAt}, t.id limit ${limit}`;
  return rows.map((row) => ({
    ...row,
    maxFee: wei(row.maxFee),
    priorityFee: wei(row.priorityFee),
    openedAt: BigInt(row.openedAt),
    transactionId: BigInt(row.transactionId),
  }));
}

/** `wallet` is the buyer's wallet of a purchase (its key's or the sandbox's) or the sender of a service transaction. */
export type WaitingReport = {
  chainId: number;
  id: string;
  purpose: ServicePurpose | null;
  keyId: string | null;
  wallet: Address;
  age: number;
};

/** The unsigned purchases and service transactions that are at least `minAge` seconds old, oldest first. */
export async function reportWaiting(
  sql: ISql,
  { minAge, limit }: { minAge: number; limit: number },
): Promise<WaitingReport[]> {
  return sql<WaitingReport[]>`
    select chain_id as "chainId", id, purpose, key_id::text as "keyId", wallet,
      extract(epoch from now() - created_at)::float8 as age
    from (
      select w.chain_id, w.intent as id, e.purpose, p.key_id, coalesce(p.wallet, e.sender) as wallet, w.created_at
      from service.waiting w left join service.purchase p on p.id = w.intent
      left join service.service_transaction e on e.id = w.intent) waiting
    where created_at <= now() - make_interval(secs => ${minAge})
    order by created_at limit ${limit}`;
}

/** How many purchases and service transactions are not signed. */
export async function countWaiting(sql: ISql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from service.waiting`;
  return row?.count ?? 0;
}

/** A failed service transaction; with a `hash` when it reverted in a block. */
export type FailureReport = {
  chainId: number;
  id: string;
  purpose: ServicePurpose;
  age: number;
  code: string;
  message: string;
  hash: Hex | null;
};

/** The service transactions that failed in the last 24 hours, newest first. */
export async function reportFailedServiceTransactions(sql: ISql, limit: number): Promise<FailureReport[]> {
  return sql<FailureReport[]>`
    select chain_id as "chainId", id, purpose, extract(epoch from now() - settled_at)::float8 as age,
      failure_code as code, failure_message as message, tx_hash as hash
    from service.service_transaction_progress where state = 'failed' and settled_at > now() - interval '24 hours'
      and created_at > now() - interval '48 hours'
    order by settled_at desc limit ${limit}`;
}

/** Gaps are searched among this number of nonces below a wallet's next one. */
const GAP_DEPTH = 10_000;

export type GapReport = { chainId: number; wallet: Address; nonce: number };

/**
 * Nonces that the ledger lacks, or has lost, between a wallet's last mined transaction (where it has none, from its lowest lost one
 * on) and its newest one in flight. Another sender used them, or all later transactions wait until the writer fills them. Archived
 * purchases have no rows either, but the lowest nonces are archived first: where there are any, only nonces above a purchase that is
 * left count. Each nonce is looked up by itself, because Postgres would join them to all transactions.
 */
export async function reportGaps(sql: ISql, limit: number): Promise<GapReport[]> {
  return sql<GapReport[]>`
    select w.chain_id as "chainId", w.address as wallet, n::float8 as nonce
    from service.relayer_wallet w
    cross join lateral (
      select min(t.nonce) as lowest, max(t.nonce) as highest
      from service.transactions_from(w.chain_id, w.address, w.open_from) t where t.state = 'open') open
    cross join lateral (
      select coalesce((
        select t.nonce + 1 from service.transaction t
        where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce < open.lowest and t.lost_to is null
        order by t.nonce desc limit 1), (
        select t.nonce from service.transaction t
        where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce < open.lowest
        order by t.nonce limit 1), open.lowest) as first) mined
    cross join lateral (
      select case when (select id from service.archived_purchase order by id limit 1) is not null then (
        select t.nonce from service.transaction t
        where t.chain_id = w.chain_id and t.wallet = w.address and t.kind = 'purchase' and t.lost_to is null
        order by t.nonce limit 1) end as lowest) purchase
    cross join lateral generate_series(
      greatest(mined.first, purchase.lowest, open.highest - ${GAP_DEPTH}::bigint), open.highest) n
    where (
      select t.id from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n and t.lost_to is null limit 1) is null
    order by 1, 2, 3 limit ${limit}`;
}
