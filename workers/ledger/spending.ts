import type { Sql, TransactionSql } from "postgres";
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
  /** With what they give away beside their gas. */
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
    from unnest(${[...ids]}::uuid[]) as wanted (id), lateral (
      select * from service.purchase x where x.id = wanted.id for update skip locked) p
    where p.state = 'accepted' and p.chain_id = ${chainId}
      and p.created_at > now() - make_interval(secs => ${maxAgeSeconds})
    order by p.created_at, p.id`;
}

/** What was spent, by the wallets of these candidates and in all. */
export async function readSpending(
  tx: TransactionSql,
  { chainId, address }: Lease,
  candidates: readonly Pick<Candidate, "wallet">[],
): Promise<Spending> {
  const wallets = [...new Set(candidates.map(({ wallet }) => wallet))];
  const [[relayer], days] = await Promise.all([
    tx<{ reserved: string; stopped: boolean }[]>`
      select coalesce(sum(gas_reserved + value), 0) as reserved, service.stopped_by(${address}, null) is not null as stopped
      from service.transaction where chain_id = ${chainId} and wallet = ${address} and state = 'open'`,
    tx<{ wallet: Address | ""; wei: string }[]>`
      select wallet, wei from service.gas_day
      where chain_id = ${chainId} and day = (now() at time zone 'utc')::date
        and (wallet = '' or wallet = any(${wallets}::text[]))`,
  ]);
  if (!relayer) throw new Error("the database returned no sum");
  return {
    all: days.reduce((sum, { wallet, wei }) => (wallet === "" ? sum + BigInt(wei) : sum), 0n),
    byWallet: new Map(days.flatMap(({ wallet, wei }) => (wallet === "" ? [] : [[wallet, BigInt(wei)]]))),
    reserved: BigInt(relayer.reserved),
    relayerStopped: relayer.stopped,
  };
}

/** What gas has cost in this UTC day, or still may, in wei. */
export async function gasSpentToday(sql: Sql, chainId: number): Promise<bigint> {
  const [row] = await sql<{ wei: string }[]>`
    select wei from service.gas_day
    where chain_id = ${chainId} and day = (now() at time zone 'utc')::date and wallet = ''`;
  return BigInt(row?.wei ?? 0);
}
