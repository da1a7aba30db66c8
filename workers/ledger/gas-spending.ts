import type { ISql, Sql, TransactionSql } from "postgres";
import type { Address } from "viem";
import type { Lease } from "./leases.ts";

/** A purchase of a signing round, with the facts that decide whether it is signed. */
export type Candidate = {
  id: string;
  /** The key's wallet. */
  wallet: Address;
  /** The operator has stopped it since it was accepted. */
  stopped: boolean;
  /** The wallet is paused, because too many of its purchases have reverted. */
  paused: boolean;
  /** The buyer's delegation is still in force; true for the buyer's own key. */
  delegated: boolean;
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
      service.rests_until(p.wallet) is not null as paused,
      p.delegation_id is null or exists (
        select 1 from service.delegation d
        where d.id = p.delegation_id and d.revoked_at is null and d.expires_at > now()) as delegated,
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
  const [[relayer], day] = await Promise.all([
    tx<{ reserved: string; stopped: boolean }[]>`
      select coalesce(sum(t.gas_reserved + t.value), 0) as reserved,
        service.stopped_by(${lease.address}, null) is not null as stopped
      from service.relayer_wallet w join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
      where w.chain_id = ${lease.chainId} and w.address = ${lease.address}`,
    readDay(tx, lease, clients),
  ]);
  if (!relayer) throw new Error("the database returned no sum");
  return {
    all: day.all.spent,
    byWallet: new Map([...day.byClient].map(([client, { spent }]) => [client, spent])),
    reserved: BigInt(relayer.reserved),
    relayerStopped: relayer.stopped,
  };
}

/** Gas of a day in wei: what transactions cost, and what the rounds of other wallets plan besides. */
type DayGas = { spent: bigint; planned: bigint };

/** Reads the day's gas of the budget that the lease's wallet spends from (`all`), and that of these clients' wallets. */
export async function readDay(
  tx: ISql,
  { chainId, address }: Lease,
  clients: readonly Address[],
): Promise<{ all: DayGas; byClient: ReadonlyMap<Address, DayGas> }> {
  const rows = await tx<{ client: Address | null; spent: string; planned: string }[]>`
    with budget as materialized (select a as account, array_append(${[...new Set(clients)]}::text[], a) as wallets
      from service.gas_account(${chainId}, ${address}) a
    ), gas (wallet, spent, planned) as (
      select g.wallet, g.wei, 0 from budget b join service.gas_day g
        on g.chain_id = ${chainId} and g.day = (now() at time zone 'utc')::date and g.wallet = any(b.wallets)
      union all
      select w.wallet, 0, w.gas from budget b, service.plans_of_others(${chainId}, ${address}) r, lateral (
        select service.gas_account(r.chain_id, r.wallet), r.gas
        union all select key, value::numeric from jsonb_each_text(r.client_gas)) w (wallet, gas)
      where w.wallet = any(b.wallets)
    )
    select nullif(g.wallet, b.account) as client, sum(g.spent) as spent, sum(g.planned) as planned
    from budget b, gas g group by 1`;
  const days = new Map(
    rows.map(({ client, spent, planned }) => [client, { spent: BigInt(spent), planned: BigInt(planned) }]),
  );
  const byClient = [...days].flatMap(([client, gas]): [Address, DayGas][] => (client ? [[client, gas]] : []));
  return { all: days.get(null) ?? { spent: 0n, planned: 0n }, byClient: new Map(byClient) };
}

/** The gas costs of this UTC day in wei, without the keeper's, with the most that transactions may cost that are not mined yet. */
export async function gasSpentToday(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql<{ wei: string }[]>`
    select coalesce(sum(wei), 0) as wei from service.gas_day
    where chain_id = ${chainId} and day = (now() at time zone 'utc')::date and wallet = ''`;
  return BigInt(row?.wei ?? 0);
}
