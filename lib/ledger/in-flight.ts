import type { ISql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "./relayers.ts";

/**
 * The open transactions of a wallet of the service. `oldest` is in seconds, null when there are none; `nextNonce` is null
 * before the wallet's first use; `unknown` counts transactions that the chain has and the ledger lacks; `writer` holds the
 * lease, null when no writer does.
 */
export type WalletLoad = {
  chainId: number;
  wallet: Address;
  role: WalletRole;
  nextNonce: number | null;
  unknown: number;
  inFlight: number;
  oldest: number | null;
  writer: string | null;
  /** Transactions are open, and no writer has held it for a minute: its key may be in no configuration. */
  abandoned: boolean;
  /** The scope of the operator's stop that covers it; null when none does. */
  stoppedBy: "global" | "keeper" | "wallet" | null;
  /** Why its writer cannot sign with it now, in words; null when it can. */
  fault: string | null;
};

/** After this time without a writer a wallet counts as abandoned, in seconds: a writer restarts faster. */
export const ABANDONED_SECONDS = 60;

/** The load of every wallet, in the order of their chains and addresses. */
export async function walletLoads(sql: ISql): Promise<WalletLoad[]> {
  return sql<WalletLoad[]>`
    select w.chain_id as "chainId", w.address as wallet, w.role, w.next_nonce::float8 as "nextNonce",
      count(t.id)::int as "inFlight", extract(epoch from now() - min(t.opened_at))::float8 as oldest,
      (select count(*)::int from generate_series(w.unknown_from, w.unknown_below - 1) n where not exists (
        select 1 from service.transaction u where u.chain_id = w.chain_id and u.wallet = w.address and u.nonce = n)) as unknown,
      case when w.lease_until > now() then w.lease_owner end as writer,
      count(t.id) > 0 and w.lease_until < now() - make_interval(secs => ${ABANDONED_SECONDS}) as abandoned,
      service.stopped_by(w.address, null) as "stoppedBy", w.fault
    from service.relayer_wallet w
    left join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
    group by w.chain_id, w.address order by w.chain_id, w.address`;
}

/** A buyer for whom nobody may buy until then, because too many of its purchases and permits reverted. */
export type PausedClient = { wallet: Address; until: Date };

/** The paused buyers, those that are paused longest first. */
export async function pausedClients(sql: ISql, limit: number): Promise<PausedClient[]> {
  return sql<PausedClient[]>`
    select wallet, until from (
      select wallet, service.paused_until(wallet) as until
      from (select distinct wallet from service.buyer_revert where reverted_at > now() - interval '1 hour') reverted) w
    where until > now() order by until desc, wallet limit ${limit}`;
}

/** A wallet with open transactions that no writer sends from any more. */
export type AbandonedWallet = { wallet: Address; open: number };

/** Wallets of a chain with open transactions that no writer has held for a minute: its key may be in no configuration. */
export async function abandonedWallets(sql: ISql, chainId: number): Promise<AbandonedWallet[]> {
  return sql<AbandonedWallet[]>`
    select w.address as wallet, count(*)::int as open
    from service.relayer_wallet w
    join lateral service.transactions_from(w.chain_id, w.address, w.open_from) t on t.state = 'open'
    where w.chain_id = ${chainId} and w.lease_until < now() - make_interval(secs => ${ABANDONED_SECONDS})
    group by w.address order by w.address`;
}

/** Purchases that are not signed yet; `oldest` is in seconds, null when there are none. */
export type Waiting = { count: number; oldest: number | null };

export async function waitingPurchases(sql: ISql, chainId: number): Promise<Waiting> {
  const [row] = await sql<Waiting[]>`
    select count(*)::int as count, extract(epoch from now() - min(created_at))::float8 as oldest
    from service.waiting where kind = 'purchase' and chain_id = ${chainId}`;
  return row ?? { count: 0, oldest: null };
}

/** Transactions that the mean is taken from. */
const RECENT = 200;

/** The mean gas cost of the newest mined purchases, in wei; undefined when there are none. */
export async function recentGasCost(sql: ISql, chainId: number): Promise<bigint | undefined> {
  const [row] = await sql<{ cost: string | null }[]>`
    select trunc(avg(gas_cost))::text as cost from (
      select gas_cost from service.transaction
      where chain_id = ${chainId} and kind = 'purchase' and gas_cost is not null order by created_at desc limit ${RECENT}) recent`;
  return row?.cost ? BigInt(row.cost) : undefined;
}
