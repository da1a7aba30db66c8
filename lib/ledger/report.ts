/** What the operator reads of the ledger: transactions in flight, waiting and failed entries, and nonce gaps. Ages are seconds by the database's clock. */
import type { Sql } from "postgres";
import type { Address, Hex } from "viem";
import { lower } from "../lower.ts";
import type { CallPurpose, IntentKind } from "./kinds.ts";

/** A signed form of a transaction in flight; fees in wei per gas. */
export type FormReport = {
  hash: Hex;
  /** An empty transfer that cancels the call. */
  cancels: boolean;
  maxFee: bigint;
  priorityFee: bigint;
  /** Seconds since it was last sent; null when it is due to be sent again. */
  sentAgo: number | null;
};

/** A transaction that may still be mined, with its signed forms, oldest first: none while it has a nonce only. */
export type FlightReport = {
  /** The number of its row. */
  row: string;
  chainId: number;
  wallet: Address;
  nonce: number;
  kind: IntentKind | "filler";
  /** The state of its purchase, permit or service transaction; null for a filler, which has none. */
  state: "accepted" | "signed" | "broadcast" | null;
  /** The id of the purchase or service transaction; of a permit, that of its purchase. */
  id: string | null;
  /** Null unless it belongs to a service transaction. */
  purpose: CallPurpose | null;
  age: number;
  /** Since when it is open, in microseconds, as a decimal. */
  openedAt: string;
  forms: readonly FormReport[];
};

/** The place of a transaction in flight in the list of all. */
export type FlightPosition = Pick<FlightReport, "openedAt" | "row">;

export type FlightOptions = {
  /** In seconds. */
  minAge?: number;
  limit: number;
  /** Only those of this wallet. */
  wallet?: Address | undefined;
  after?: FlightPosition | undefined;
};

type FormRow = Omit<FormReport, "maxFee" | "priorityFee"> & { maxFee: string; priorityFee: string };
type FlightRow = Omit<FlightReport, "forms"> & { forms: FormRow[] };

/** The transactions in flight that are at least `minAge` seconds old, oldest first, after a position. */
export async function reportFlights(
  sql: Sql,
  { minAge = 0, limit, wallet, after }: FlightOptions,
): Promise<FlightReport[]> {
  const ofWallet = wallet ? sql`and w.address = ${lower(wallet)}` : sql``;
  const later = after
    ? sql`and (t.opened_at, t.id)
        > (timestamptz 'epoch' + ${after.openedAt}::bigint * interval '1 microsecond', ${after.row}::bigint)`
    : sql``;
  const rows = await sql<FlightRow[]>`
    select t.id::text as row, t.chain_id as "chainId", t.wallet, t.nonce::float8 as nonce, t.kind,
      case when t.intent is not null
        then case when f.untaken is null then 'accepted' when f.untaken then 'signed' else 'broadcast' end end as state,
      coalesce(m.purchase_id, t.intent) as id, e.purpose,
      extract(epoch from now() - t.opened_at)::float8 as age,
      (extract(epoch from t.opened_at) * 1000000)::bigint::text as "openedAt", coalesce(f.forms, '[]') as forms
    from (
      select t.* from service.relayer_wallet w
      cross join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t
      where t.state = 'open' and t.opened_at <= now() - make_interval(secs => ${minAge}) ${ofWallet} ${later}
      order by t.opened_at, t.id limit ${limit}) t
    left join service.service_transaction e on e.id = t.intent left join service.permit m on m.id = t.intent
    left join lateral (
      select (array_agg(a.untaken order by a.id desc))[1] as untaken,
        json_agg(json_build_object('hash', a.hash, 'cancels', a.cancels, 'maxFee', a.max_fee::text,
          'priorityFee', a.priority_fee::text,
          'sentAgo', extract(epoch from now() - a.last_broadcast_at)::float8) order by a.id) as forms
      from service.attempt a where a.transaction_id = t.id) f on true
    order by t.opened_at, t.id`;
  return rows.map(({ forms, ...row }) => ({
    ...row,
    forms: forms.map(({ maxFee, priorityFee, ...form }) => ({
      ...form,
      maxFee: BigInt(maxFee),
      priorityFee: BigInt(priorityFee),
    })),
  }));
}

/** `wallet` is the buyer's wallet of a purchase (its key's or the sandbox's) or the sender of a service transaction. */
export type WaitingReport = {
  chainId: number;
  id: string;
  purpose: CallPurpose | null;
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
    select w.chain_id as "chainId", w.intent as id, e.purpose, p.key_id::text as "keyId", coalesce(p.wallet, e.sender) as wallet,
      extract(epoch from now() - w.created_at)::float8 as age
    from (
      select * from service.waiting where created_at <= now() - make_interval(secs => ${minAge})
      order by created_at limit ${limit}) w
    left join service.purchase p on p.id = w.intent left join service.service_transaction e on e.id = w.intent
    order by w.created_at`;
}

/** A failed service transaction; with a `hash` when it reverted in a block. */
export type FailureReport = {
  chainId: number;
  id: string;
  purpose: CallPurpose;
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
 * nonces are archived first: where there are any, only nonces above a purchase that is left count. Each nonce is looked up by
 * itself, because Postgres would join them to all transactions.
 */
export async function reportGaps(sql: Sql, limit: number): Promise<GapReport[]> {
  return sql<GapReport[]>`
    select w.chain_id as "chainId", w.address as wallet, n::float8 as nonce
    from service.relayer_wallet w
    cross join lateral (
      select min(t.nonce) as lowest, max(t.nonce) as highest
      from service.transactions_from(w.chain_id, w.address, w.open_from) t where t.state = 'open') open
    cross join lateral (
      select coalesce((
        select t.nonce + 1 from service.transaction t
        where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce < open.lowest
        order by t.nonce desc limit 1), open.lowest) as first) mined
    cross join lateral (
      select case when (select id from service.archived_purchase order by id limit 1) is not null then (
        select t.nonce from service.transaction t
        where t.chain_id = w.chain_id and t.wallet = w.address and t.kind = 'purchase' and t.lost_to is null
        order by t.nonce limit 1) end as lowest) purchase
    cross join lateral generate_series(
      greatest(mined.first, purchase.lowest, open.highest - ${GAP_DEPTH}::bigint), open.highest) n
    where (
      select t.id from service.transaction t
      where t.chain_id = w.chain_id and t.wallet = w.address and t.nonce = n limit 1) is null
    order by 1, 2, 3 limit ${limit}`;
}
