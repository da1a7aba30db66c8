import type { Sql } from "postgres";
import type { Address, Hex } from "viem";

/** What an operator asks of the ledger: what is in flight, what is stuck. Ages are seconds by its own clock. */

/** A transaction that may still be mined; fees in wei per gas, of its newest signed form. */
export type FlightReport = {
  chainId: number;
  wallet: Address;
  nonce: number;
  kind: "purchase" | "filler";
  /** How far its purchase is; null for a filler, which has none. */
  state: string | null;
  purchaseId: string | null;
  age: number;
  attempts: number;
  /** Whether a form that cancels the purchase is among them. */
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
    select t.chain_id as "chainId", t.wallet, t.nonce::float8 as nonce, t.kind, p.state, p.id as "purchaseId",
      extract(epoch from now() - t.opened_at)::float8 as age, a.attempts, a.cancels,
      newest.max_fee as "maxFee", newest.priority_fee as "priorityFee", newest.hash,
      extract(epoch from now() - newest.last_broadcast_at)::float8 as "sentAgo"
    from service.transaction t
    left join service.purchase p on p.id = t.purchase_id
    cross join lateral (
      select count(*)::int as attempts, bool_or(cancels) as cancels from service.attempt where transaction_id = t.id) a
    cross join lateral (
      select * from service.attempt where transaction_id = t.id order by id desc limit 1) newest
    where t.state = 'open' and t.opened_at <= now() - make_interval(secs => ${minAge})
    order by t.opened_at, t.nonce limit ${limit}`;
  return rows.map((row) => ({ ...row, maxFee: BigInt(row.maxFee), priorityFee: BigInt(row.priorityFee) }));
}

export type WaitingReport = { chainId: number; id: string; keyId: string; wallet: Address; age: number };

/** Purchases of which nothing is signed and that are at least so old, the oldest first. */
export async function reportWaiting(
  sql: Sql,
  { minAge, limit }: { minAge: number; limit: number },
): Promise<WaitingReport[]> {
  return sql<WaitingReport[]>`
    select chain_id as "chainId", id, key_id::text as "keyId", wallet,
      extract(epoch from now() - created_at)::float8 as age
    from service.purchase
    where state = 'accepted' and created_at <= now() - make_interval(secs => ${minAge})
    order by created_at limit ${limit}`;
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
