import type { TransactionSql } from "postgres";
import type { Address } from "viem";
import type { Lease } from "./leases.ts";

/** What a purchase is judged by when its turn to be signed has come. */
export type Candidate = {
  id: string;
  /** The key's wallet. */
  wallet: Address;
  /** Stopped by the operator since it was accepted. */
  stopped: boolean;
  /** Too many of the wallet's purchases have reverted since. */
  rests: boolean;
  /** The buyer's leave is still in force; true for the buyer's own key. */
  allowed: boolean;
};

/** What gas has cost since the UTC day began, or still may, in wei; `reserved` is what the relayer's open ones may cost. */
export type Spending = {
  all: bigint;
  byWallet: ReadonlyMap<Address, bigint>;
  reserved: bigint;
  /** The operator has stopped the relayer's wallet. */
  relayerStopped: boolean;
};

/** Those of the purchases that wait to be signed and are young enough, oldest first, locked. */
export async function readCandidates(
  tx: TransactionSql,
  { chainId }: Lease,
  ids: readonly string[],
  maxAgeSeconds: number,
): Promise<Candidate[]> {
  return tx<Candidate[]>`
    select p.id, p.wallet, service.stopped_by(p.wallet, p.key_id) is not null as stopped,
      service.rests_until(p.wallet) is not null as rests,
      p.delegation_id is null or exists (
        select 1 from service.delegation d
        where d.id = p.delegation_id and d.revoked_at is null and d.expires_at > now()) as allowed
    from service.purchase p
    where p.id = any(${[...ids]}::uuid[]) and p.state = 'accepted' and p.chain_id = ${chainId}
      and p.created_at > now() - make_interval(secs => ${maxAgeSeconds})
    order by p.created_at, p.id for update of p skip locked`;
}

/** The cost of a transaction: what its gas has cost, or the most that it may cost while it is in no block. */
const cost = (tx: TransactionSql) => tx`coalesce(t.gas_cost, t.gas_reserved)`;
const today = (tx: TransactionSql) => tx`date_trunc('day', now() at time zone 'utc') at time zone 'utc'`;

/** Sums what was spent, for the wallets of these candidates and for all. */
export async function readSpending(
  tx: TransactionSql,
  { chainId, address }: Lease,
  candidates: readonly Candidate[],
): Promise<Spending> {
  const wallets = [...new Set(candidates.map(({ wallet }) => wallet))];
  if (wallets.length === 0) return { all: 0n, byWallet: new Map(), reserved: 0n, relayerStopped: false };
  const [[sums], rows] = await Promise.all([
    tx<{ all: string; reserved: string; stopped: boolean }[]>`
      select (
        select coalesce(sum(${cost(tx)}), 0) from service.transaction t
        where t.chain_id = ${chainId} and t.created_at >= ${today(tx)} and t.state <> 'lost') as all,
      (
        select coalesce(sum(${cost(tx)}), 0) from service.transaction t
        where t.chain_id = ${chainId} and t.wallet = ${address} and t.state = 'open') as reserved,
      service.stopped_by(${address}, null) is not null as stopped`,
    tx<{ wallet: Address; spent: string }[]>`
      select p.wallet, sum(${cost(tx)}) as spent
      from service.purchase p join service.transaction t on t.purchase_id = p.id and t.state <> 'lost'
      where p.wallet = any(${wallets}::text[]) and p.chain_id = ${chainId} and t.created_at >= ${today(tx)}
        and p.created_at >= ${today(tx)} - interval '1 hour'
      group by p.wallet`,
  ]);
  if (!sums) throw new Error("the database returned no sums");
  return {
    all: BigInt(sums.all),
    byWallet: new Map(rows.map(({ wallet, spent }) => [wallet, BigInt(spent)])),
    reserved: BigInt(sums.reserved),
    relayerStopped: sums.stopped,
  };
}
