/** Reads transactions in flight, waiting and failed entries, and nonce gaps. Ages are seconds by the database's clock. */
import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ServiceTransactionPurpose } from "../../lib/ledger/service-transaction-figures.ts";
import type { IntentKind } from "../../workers/ledger/assign-nonces.ts";

/** A transaction that may still be mined, with its newest attempt's fees in wei per gas: null while it has a nonce only. */
export type FlightReport = {
  chainId: number;
  wallet: Address;
  nonce: number;
  kind: IntentKind | "filler";
  /** The state of its purchase, permit or service transaction; null for a filler, which has none. */
  state: string | null;
  /** The id of the purchase or service transaction; of a permit, that of its purchase. */
  id: string | null;
  /** Null unless it belongs to a service transaction. */
  purpose: ServiceTransactionPurpose | null;
  age: number;
  attempts: number;
  /** Whether one of the attempts cancels it. */
  cancels: boolean;
  maxFee: bigint | null;
  priorityFee: bigint | null;
  /** Seconds since the newest attempt was last sent; null when it never was. */
  sentAgo: number | null;
};

type FlightRow = Omit<FlightReport, "maxFee" | "priorityFee"> & {
  maxFee: string | null;
  priorityFee: string | null;
};
const wei = (decimals: string | null): bigint | null => (decimals === null ? null : BigInt(decimals));

/** The transactions in flight that are at least `minAge` seconds old, oldest first. */
export async function reportFlights(
  sql: Sql,
  { minAge, limit }: { minAge: number; limit: number },
): Promise<FlightReport[]> {
  const rows = await sql<FlightRow[]>`
    select t.chain_id as "chainId", t.wallet, t.nonce::float8 as nonce, t.kind, case when t.intent is not null
        then case when newest.hash is null then 'accepted' when newest.untaken then 'signed' else 'broadcast' end end as state,
      coalesce(m.purchase_id, t.intent) as id, e.purpose,
      extract(epoch from now() - t.opened_at)::float8 as age, a.attempts, a.cancels,
      newest.max_fee as "maxFee", newest.priority_fee as "priorityFee",
      extract(epoch from now() - newest.last_broadcast_at)::float8 as "sentAgo"
    from service.relayer_wallet w cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t
    left join service.service_transaction e on e.id = t.intent left join service.permit m on m.id = t.intent
    cross join lateral (
      select count(*)::int as attempts, coalesce(bool_or(cancels), false) as cancels from service.attempt where transaction_id = t.id) a
    left join lateral (
      select * from service.attempt where transaction_id = t.id order by id desc limit 1) newest on true
    where t.state = 'open' and t.opened_at <= now() - make_interval(secs => ${minAge})
    order by t.opened_at, t.nonce limit ${limit}`;
  return rows.map((row) => ({ ...row, maxFee: wei(row.maxFee), priorityFee: wei(row.priorityFee) }));
}

/** `wallet` is the buyer's wallet of a purchase (its key's or the sandbox's) or the sender of a service transaction. */
export type WaitingReport = {
  chainId: number;
  id: string;
  purpose: ServiceTransactionPurpose | null;
  keyId: string | null;
  wallet: Address;
  age: number;
};

/** The unsigned purchases and service transactions that are at least `minAge` seconds old, oldest first. */
export async function reportWaiting(
  sql: Sql,
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

/** A failed service transaction; with a `hash` when it reverted in a block. */
export type FailureReport = {
  chainId: number;
  id: string;
  purpose: ServiceTransactionPurpose;
  age: number;
  code: string;
  message: string;
  hash: Hex | null;
};

/** The service transactions that failed in the last 24 hours, newest first. */
export async function reportFailedServiceTransactions(sql: Sql, limit: number): Promise<FailureReport[]> {
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
 * Nonces that the ledger lacks between a wallet's last mined transaction and its newest one in flight. Another sender used
 * them, or all later transactions wait until the writer fills them. Archived purchases have no rows either, but the lowest
 * nonces are archived first: where there are any, only nonces above a purchase that is left count.
 */
export async function reportGaps(sql: Sql, limit: number): Promise<GapReport[]> {
  return sql<GapReport[]>`
    select w.chain_id as "chainId", w.address as wallet, n::float8 as nonce
    from service.relayer_wallet w
    cross join lateral (
      select min(nonce) as lowest, max(nonce) as highest from service.transaction
      where chain_id = w.chain_id and wallet = w.address and nonce >= w.open_from and state = 'open') open
    cross join lateral (
      select coalesce((
        select nonce + 1 from service.transaction
        where chain_id = w.chain_id and wallet = w.address and state <> 'open'
        order by nonce desc limit 1), open.lowest) as first) mined
    cross join lateral (
      select case when exists (select 1 from service.archived_purchase) then (
        select nonce from service.transaction
        where chain_id = w.chain_id and wallet = w.address and kind = 'purchase' and lost_to is null
        order by nonce limit 1) end as lowest) purchase
    cross join lateral generate_series(
      greatest(least(mined.first, open.lowest), purchase.lowest, open.highest - ${GAP_DEPTH}::bigint), open.highest) n
    where not exists (
      select 1 from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n)
    order by 1, 2, 3 limit ${limit}`;
}
