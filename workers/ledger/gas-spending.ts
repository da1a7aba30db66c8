import type { ISql, Sql, TransactionSql } from "postgres";
import type { Address } from "viem";
import { type Lease, LeaseLost, leaseHeld } from "./leases.ts";

/** The most that gas may cost in a UTC day, in wei: all of it, and that of one client's wallet. */
export type Budgets = { gasBudget: bigint; gasBudgetPerWallet?: bigint };

/**
 * The share of a day's budget, in wei, for calls that run strangers' code, which can make them fail on the service's gas however they
 * were simulated: a tenth. Nine tenths are always left for buyers without code.
 */
export const codeBudgetOf = (gasBudget: bigint): bigint => gasBudget / 10n;

/**
 * The longest wait for a lock in a round; a round takes a few ms. A writer that is suspended in one keeps the budget's row for
 * five seconds, and other writers need their connections for more than to wait for it.
 */
const LOCK_TIMEOUT = "2s";

/**
 * Runs `work` in a transaction that reserves gas. It holds the row of the budget that the wallet spends from, so that rounds of
 * several wallets follow each other, and each sees the gas and the coverage that those before it have reserved. No lock comes before
 * this one: whoever waits for it keeps nobody waiting. Nodes and signers are not asked meanwhile.
 * @throws LeaseLost
 */
export async function whileBudgetLocked<Result>(
  sql: Sql,
  lease: Lease,
  work: (tx: TransactionSql) => Promise<Result>,
): Promise<Result> {
  const { chainId, address } = lease;
  const { result } = await sql.begin(async (tx) => {
    const held = await tx`
      with patience as materialized (select set_config('lock_timeout', ${LOCK_TIMEOUT}, true)),
        budget as materialized (
          select from patience, service.budget_lock b
          where b.chain_id = ${chainId} and b.account = service.gas_account(${chainId}, ${address}) for update of b)
      select from budget, service.relayer_wallet w where ${leaseHeld(tx, lease)} for update of w`;
    // Taking a lease creates the budget's row.
    if (held.length === 0) throw new LeaseLost(lease);
    return { result: await work(tx) };
  });
  return result;
}

/** A purchase of a signing round, with the facts that decide whether it is signed. */
export type Candidate = {
  id: string;
  /** The key's wallet. */
  wallet: Address;
  /** The operator has stopped it since it was accepted. */
  stopped: boolean;
  /** The buyer is paused, because too many of its purchases have reverted. */
  paused: boolean;
  /** What it lacks by now: an active key, or the buyer's delegation; null: nothing. */
  lacks: "key" | "delegation" | null;
  /** Its permit has a transaction. */
  permitSent: boolean;
};

export type Spending = {
  /**
   * The gas costs of this UTC day in wei; a transaction that is not mined yet counts with the most that it may cost. The keeper's
   * for its wallet, those of all other wallets for any other.
   */
  all: bigint;
  byWallet: ReadonlyMap<Address, bigint>;
  /** Of `all`: those of calls that run strangers' code. */
  ofCode: bigint;
  /** The most that the relayer's open transactions may take from its balance: gas and value. */
  reserved: bigint;
  /** The operator has stopped the relayer's wallet. */
  relayerStopped: boolean;
};

/** Locks and reads the purchases with these ids that still wait to be signed and are young enough, in the ids' order. */
export async function readCandidates(
  tx: TransactionSql,
  { chainId }: Lease,
  ids: readonly string[],
  maxAgeSeconds: number,
): Promise<Candidate[]> {
  return tx<Candidate[]>`
    select p.id, p.wallet, service.stopped_by(p.wallet, p.key_id) is not null as stopped,
      service.paused_until(p.buyer) is not null as paused,
      service.lacked_by(p) as lacks,
      exists (
        select 1 from service.permit m join service.transaction t on t.intent = m.id and t.lost_to is null
        where m.purchase_id = p.id) as "permitSent"
    from (
      select intent from service.waiting
      where intent = any(${[...ids]}::uuid[]) and chain_id = ${chainId}
        and created_at > now() - make_interval(secs => ${maxAgeSeconds})
      for update skip locked) w
    join service.purchase p on p.id = w.intent
    order by array_position(${[...ids]}::uuid[], p.id)`;
}

/** Reads the day's gas costs that count for the lease's wallet, and those of these clients' wallets, and its open transactions. */
export async function readSpending(tx: ISql, lease: Lease, clients: readonly Address[]): Promise<Spending> {
  const { chainId, address } = lease;
  type Row = {
    reserved: string;
    stopped: boolean;
    all: string;
    ofCode: string;
    byWallet: [Address, string][];
  };
  const [row] = await tx<Row[]>`
    select service.stopped_by(${address}, null) is not null as stopped, (
        select coalesce(sum(t.gas_reserved + t.value), 0)
        from service.relayer_wallet w
        join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
        where w.chain_id = ${chainId} and w.address = ${address}) as reserved, spent.*
    from service.gas_account(${chainId}, ${address}) as a (account), lateral (
      select coalesce(sum(d.wei) filter (where d.wallet = a.account), 0) as all,
        coalesce(sum(d.wei) filter (where d.wallet = a.account || ':code'), 0) as "ofCode",
        coalesce(json_agg(json_build_array(d.wallet, d.wei::text)) filter (where d.wallet like '0x%'), '[]') as "byWallet"
      from (
        select g.wallet, sum(g.wei) as wei from service.gas_day g
        where g.chain_id = ${chainId} and g.day = (now() at time zone 'utc')::date
          and g.wallet = any(array[a.account, a.account || ':code'] || ${[...new Set(clients)]}::text[])
        group by 1) d) spent`;
  if (!row) throw new Error("the database returned no sum");
  return {
    all: BigInt(row.all),
    byWallet: new Map(row.byWallet.map(([client, wei]) => [client, BigInt(wei)])),
    ofCode: BigInt(row.ofCode),
    reserved: BigInt(row.reserved),
    relayerStopped: row.stopped,
  };
}

/** The gas costs of this UTC day in wei, without the keeper's, with the most that transactions may cost that are not mined yet. */
export async function gasSpentToday(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql<{ wei: string }[]>`
    select coalesce(sum(wei), 0) as wei from service.gas_day
    where chain_id = ${chainId} and day = (now() at time zone 'utc')::date and wallet = ''`;
  return BigInt(row?.wei ?? 0);
}

/** An open transaction, and the most that it may cost with a higher fee, in wei. */
export type Raise = {
  id: number;
  cost: bigint;
  /** The gas cost that the ledger reserves for it now, in wei. */
  reserved: bigint;
  /** The form is an empty transfer, which makes way for the nonces behind it: the budget does not hold it back. */
  isEmpty: boolean;
};

/**
 * Reserves the cost of the raises that `choose` takes within the day's budget, before they are signed.
 * @returns the chosen raises that are still open.
 * @throws LeaseLost
 */
export function reserveRaises<Chosen extends Raise>(
  sql: Sql,
  lease: Lease,
  choose: (spending: Spending) => readonly Chosen[],
): Promise<Chosen[]> {
  return whileBudgetLocked(sql, lease, async (tx) => {
    const chosen = choose(await readSpending(tx, lease, []));
    const rows = chosen.map(({ id, cost }) => ({ id, cost: String(cost) }));
    // Outcomes lock transactions in the order of their ids too: no deadlocks.
    const reserved = await tx<{ id: string }[]>`
      with raise as (
        select * from json_to_recordset(${JSON.stringify(rows)}::text::json) as r (id bigint, cost numeric)
      ), open as (
        select t.id, raise.cost from service.transaction t join raise on raise.id = t.id
        where t.state = 'open' and t.wallet = ${lease.address} order by t.id for update of t
      )
      update service.transaction t set gas_reserved = greatest(gas_reserved, open.cost)
      from open where t.id = open.id returning t.id`;
    const open = new Set(reserved.map(({ id }) => Number(id)));
    return chosen.filter(({ id }) => open.has(id));
  });
}
