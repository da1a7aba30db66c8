import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import type { ErrandPurpose } from "../../lib/ledger/errand-figures.ts";

/** What an operator asks of the ledger: what is in flight, what is stuck. Ages are seconds by its own clock. */

/** A transaction that may still be mined; fees in wei per gas, of its newest signed form. */
export type FlightReport = {
  chainId: number;
  wallet: Address;
  nonce: number;
  kind: "purchase" | "errand" | "filler";
  /** How far its purchase or errand is; null for a filler, which has neither. */
  state: string | null;
  /** Of the purchase or the errand. */
  id: string | null;
  /** Of an errand. */
  purpose: ErrandPurpose | null;
  age: number;
  attempts: number;
  /** Whether a form that cancels it is among them. */
  cancels: boolean;
  maxFee: bigint;
  priorityFee: bigint;
  /** Since the newest form was sent for the last time; null when it never was. */
  sentAgo: number | null;
  hash: Hex;
};

type FlightRow = Omit<FlightReport, "maxFee" | "priorityFee"> & { maxFee: string; priorityFee: string };

/** The transactions in flight that are at least so old, the oldest first. */
export async function reportFlights(
  sql: Sql,
  { minAge, limit }: { minAge: number; limit: number },
): Promise<FlightReport[]> {
  const rows = await sql<FlightRow[]>`
    select t.chain_id as "chainId", t.wallet, t.nonce::float8 as nonce, t.kind, coalesce(p.state, e.state) as state,
      coalesce(p.id, e.id) as id, e.purpose,
      extract(epoch from now() - t.opened_at)::float8 as age, a.attempts, a.cancels,
      newest.max_fee as "maxFee", newest.priority_fee as "priorityFee", newest.hash,
      extract(epoch from now() - newest.last_broadcast_at)::float8 as "sentAgo"
    from service.transaction t
    left join service.purchase p on p.id = t.purchase_id
    left join service.errand e on e.id = t.errand_id
    cross join lateral (
      select count(*)::int as attempts, bool_or(cancels) as cancels from service.attempt where transaction_id = t.id) a
    cross join lateral (
      select * from service.attempt where transaction_id = t.id order by id desc limit 1) newest
    where t.state = 'open' and t.opened_at <= now() - make_interval(secs => ${minAge})
    order by t.opened_at, t.nonce limit ${limit}`;
  return rows.map((row) => ({ ...row, maxFee: BigInt(row.maxFee), priorityFee: BigInt(row.priorityFee) }));
}

/** A purchase, whose `wallet` is its key's or the sandbox's, or an errand with its sender; `keyId` is null without a key. */
export type WaitingReport = {
  chainId: number;
  id: string;
  purpose: ErrandPurpose | null;
  keyId: string | null;
  wallet: Address;
  age: number;
};

/** Purchases and errands of which nothing is signed and that are at least so old, the oldest first. */
export async function reportWaiting(
  sql: Sql,
  { minAge, limit }: { minAge: number; limit: number },
): Promise<WaitingReport[]> {
  return sql<WaitingReport[]>`
    select chain_id as "chainId", id, purpose, key_id::text as "keyId", wallet,
      extract(epoch from now() - created_at)::float8 as age
    from (
      select chain_id, id, null as purpose, key_id, wallet, created_at from service.purchase where state = 'accepted'
      union all
      select chain_id, id, purpose, null, sender, created_at from service.errand where state = 'accepted') waiting
    where created_at <= now() - make_interval(secs => ${minAge})
    order by created_at limit ${limit}`;
}

/** An errand that came to nothing; `hash` when it reverted in a block. */
export type FailureReport = {
  chainId: number;
  id: string;
  purpose: ErrandPurpose;
  age: number;
  code: string;
  message: string;
  hash: Hex | null;
};

/** The errands that failed in the last 24 hours, the newest first. */
export async function reportFailedErrands(sql: Sql, limit: number): Promise<FailureReport[]> {
  return sql<FailureReport[]>`
    select chain_id as "chainId", id, purpose, extract(epoch from now() - updated_at)::float8 as age,
      failure_code as code, failure_message as message, tx_hash as hash
    from service.errand where state = 'failed' and updated_at > now() - interval '24 hours'
    order by updated_at desc limit ${limit}`;
}

/** Nonces that are looked through for gaps, below a wallet's next one. */
const GAP_DEPTH = 10_000;

export type GapReport = { chainId: number; wallet: Address; nonce: number };

/**
 * Nonces above a wallet's last mined transaction that no row of the ledger has, while a later one is in flight: somebody
 * else used them, or everything behind them waits until the writer fills them.
 */
export async function reportGaps(sql: Sql, limit: number): Promise<GapReport[]> {
  return sql<GapReport[]>`
    select w.chain_id as "chainId", w.address as wallet, n::float8 as nonce
    from service.relayer_wallet w
    cross join lateral (
      select min(nonce) as lowest, max(nonce) as highest from service.transaction
      where chain_id = w.chain_id and wallet = w.address and state = 'open') open
    cross join lateral (
      select coalesce((
        select nonce + 1 from service.transaction
        where chain_id = w.chain_id and wallet = w.address and state <> 'open'
        order by nonce desc limit 1), open.lowest) as first) mined
    cross join lateral generate_series(
      greatest(least(mined.first, open.lowest), open.highest - ${GAP_DEPTH}::bigint), open.highest) n
    where not exists (
      select 1 from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n)
    order by 1, 2, 3 limit ${limit}`;
}
