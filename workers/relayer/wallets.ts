import type { Sql } from "postgres";
import type { Address } from "viem";
import type { WalletRole } from "../../lib/ledger/relayers.ts";
import type { Logger } from "../../lib/log.ts";
import { lower } from "../../lib/lower.ts";
import type { Budgets } from "../ledger/gas-spending.ts";
import { type Lease, releaseLease, renewLease, startNonces, takeLease } from "../ledger/leases.ts";
import type { Chain } from "./chain.ts";
import { compareNonce } from "./compare-nonces.ts";
import { type Account, type Key, openAccount } from "./signer.ts";

/** A wallet that lacks ether or was stopped by the operator is not asked to sign for this time, in ms. */
const SUSPENSION_MS = 1000;

/** A wallet that this writer holds the lease of. */
export type Wallet = { address: Address; role: WalletRole; account: Account; lease: Lease };

export type WalletKey = { role: WalletRole; key: Key };

export type WalletPoolOptions = {
  sql: Sql;
  chain: Pick<Chain, "nonce">;
  chainId: number;
  /** The id of this process among the writers. */
  owner: string;
  keys: readonly WalletKey[];
  /** The budgets that a wallet spends from. */
  budgetsOf: (role: WalletRole) => Budgets;
  log: Logger;
  /** Whether the node answers: a writer that cannot reach the chain leaves the wallets to one that can. */
  isNodeAnswering: () => boolean;
  /** Called when the writer gets its first wallet besides the keeper's, and when it loses its last one. */
  onChange?: (hasWallets: boolean) => void;
};

/** The wallets of this writer's keys, and the leases that it holds. */
export function createWalletPool({ keys, ...options }: WalletPoolOptions) {
  return {
    ...options,
    accounts: keys.map(({ role, key }) => ({ role, account: openAccount(key, options.log) })),
    leased: new Map<Address, Wallet>(),
    /** Leases without a known next nonce yet, because the chain has not answered. */
    pending: new Map<Address, Lease>(),
    /** Until when a wallet is not asked to sign, by `performance.now()`; kept until it signs again. */
    suspendedUntil: new Map<Address, number>(),
    /** The position of the relayer wallet that comes first in the next round robin. */
    turn: 0,
    /** The value that `onChange` was last called with. */
    hasWallets: false,
  };
}

export type WalletPool = ReturnType<typeof createWalletPool>;

function reportChange(pool: WalletPool): void {
  // The keeper takes no jobs of the queue.
  const hasWallets = leasedWallets(pool).some(({ role }) => role !== "keeper");
  if (hasWallets !== pool.hasWallets) pool.onChange?.(hasWallets);
  pool.hasWallets = hasWallets;
}

/** Sends nothing more from a wallet. */
function dropWallet(pool: WalletPool, address: Address): void {
  if (pool.leased.delete(address)) pool.log.warn({ wallet: address }, "lost the lease on a wallet");
  reportChange(pool);
}

/**
 * Renews or takes the lease of one wallet.
 * @returns a wallet that is new, and was compared with the chain.
 */
async function keepLease(
  pool: WalletPool,
  { role, account }: WalletPool["accounts"][number],
): Promise<Wallet | undefined> {
  const { sql, chain, chainId, owner, leased, pending, budgetsOf, log } = pool;
  const address = lower(account.address);
  const held = leased.get(address)?.lease ?? pending.get(address);
  if (!pool.isNodeAnswering()) {
    pending.delete(address);
    dropWallet(pool, address);
    if (held) await releaseLease(sql, held);
    return undefined;
  }
  if (held && !(await renewLease(sql, held))) {
    pending.delete(address);
    dropWallet(pool, address);
    return undefined;
  }
  if (leased.has(address)) return undefined;
  const lease = held ?? (await takeLease(sql, { chainId, address, owner, role, budgets: budgetsOf(role) }));
  if (!lease) return undefined;
  pending.set(address, lease);
  const count = await chain.nonce(address, "pending");
  const nextNonce = await startNonces(sql, lease, count);
  await compareNonce(pool, address, count);
  log.info({ wallet: address, role, nextNonce, fencingToken: lease.token }, "sending from a wallet");
  return { address, role, account, lease };
}

/** Renews the leases that are held and takes those that are free. Rejects when the database or the chain is down. */
export async function keepLeases(pool: WalletPool): Promise<void> {
  const results = await Promise.allSettled(pool.accounts.map((account) => keepLease(pool, account)));
  for (const result of results) {
    if (result.status === "rejected" || !result.value) continue;
    pool.pending.delete(result.value.address);
    pool.leased.set(result.value.address, result.value);
  }
  reportChange(pool);
  for (const result of results) if (result.status === "rejected") throw result.reason;
}

export const leasedWallets = ({ leased }: WalletPool): Wallet[] => [...leased.values()];

/** The leased wallets of one role. */
export const walletsOf = (pool: WalletPool, role: WalletRole): Wallet[] =>
  leasedWallets(pool).filter((wallet) => wallet.role === role);

const isSuspended = ({ suspendedUntil }: WalletPool, address: Address): boolean =>
  (suspendedUntil.get(address) ?? 0) > performance.now();

/** Whether a wallet may be given nonces: its signer, if it has one, signed when it was last asked. */
export const canSign = ({ account }: Pick<Wallet, "account">): boolean => account.canSign?.() ?? true;

/** The leased relayer wallets that are not suspended and can sign. Each call puts another one first, so that they share the load. */
export function nextRelayerWallets(pool: WalletPool): Wallet[] {
  const wallets = walletsOf(pool, "relayer").filter(
    (wallet) => !isSuspended(pool, wallet.address) && canSign(wallet),
  );
  pool.turn = (pool.turn + 1) % Math.max(wallets.length, 1);
  return [...wallets.slice(pool.turn), ...wallets.slice(0, pool.turn)];
}

/** Suspends a wallet for a second, because it cannot sign now. */
export function suspendWallet(pool: WalletPool, address: Address, reason: string): void {
  if (!isSuspended(pool, address)) pool.log.warn({ wallet: address, reason }, "a wallet is suspended");
  pool.suspendedUntil.set(address, performance.now() + SUSPENSION_MS);
}

/** Ends a wallet's suspension, because it has signed. */
export function resumeWallet({ suspendedUntil }: WalletPool, address: Address): void {
  suspendedUntil.delete(address);
}

/** True when there are leased relayer wallets, and none of them could sign, or pay, when it was last asked to. */
export function allRelayersSuspended(pool: WalletPool): boolean {
  const relayers = walletsOf(pool, "relayer");
  return (
    relayers.length > 0 &&
    relayers.every((wallet) => pool.suspendedUntil.has(wallet.address) || !canSign(wallet))
  );
}

/** Forgets a wallet after a statement has found that its lease is lost. */
export function forgetLease(pool: WalletPool, { address, token }: Lease): void {
  if (pool.leased.get(address)?.lease.token === token) dropWallet(pool, address);
}

/** Gives all leases back. */
export async function releaseLeases({ sql, leased, pending }: WalletPool): Promise<void> {
  const leases = [...[...leased.values()].map((wallet) => wallet.lease), ...pending.values()];
  leased.clear();
  pending.clear();
  await Promise.all(leases.map((lease) => releaseLease(sql, lease)));
}
