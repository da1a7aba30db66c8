import type { ISql } from "postgres";
import { type Address, getAddress } from "viem";

/**
 * Relayers send purchases, and the keeper's wallet triggers and closes policies; on the testnet the sandbox's wallet pays
 * premiums, and the faucet's sends grants.
 */
export const walletRoles = ["relayer", "keeper", "sandbox", "faucet"] as const;
export type WalletRole = (typeof walletRoles)[number];

/** A relayer's wallet that some writer sends from; `seenAt` is the time of that writer's last heartbeat. */
export type RelayerStatus = { address: Address; chainId: number; seenAt: Date };

/** A writer renews its leases, and its oracle's row, every 2 s; without a renewal within this many seconds it counts as dead. */
export const HEARTBEAT_SECONDS = 15;

/** True for a wallet that a live writer owns. */
const isAlive = (sql: ISql) => sql`
  (lease_owner is not null and heartbeat_at > now() - make_interval(secs => ${HEARTBEAT_SECONDS}))`;

/**
 * The relayer wallets of a chain that a live writer owns and the operator has not stopped: checksummed, sorted by address.
 */
export async function liveRelayers(sql: ISql, chainId: number): Promise<RelayerStatus[]> {
  const rows = await sql<{ address: string; seenAt: Date }[]>`
    select address, heartbeat_at as "seenAt" from service.relayer_wallet
    where chain_id = ${chainId} and role = 'relayer' and ${isAlive(sql)}
      and service.stopped_by(address, null) is distinct from 'wallet'
    order by address`;
  return rows.map(({ address, seenAt }) => ({ address: getAddress(address), chainId, seenAt }));
}

/** A wallet or signer without a heartbeat for this many seconds counts as removed by the operator. */
export const FORGOTTEN_SECONDS = 3600;

/**
 * The wallet with a special role. `alive`: some writer sends from it; `stopped`: the operator has stopped it;
 * `fault`: why that writer cannot sign with it now, in words.
 */
export type RoleWallet = { address: Address; alive: boolean; stopped: boolean; fault: string | null };

/** The role's wallet with the latest heartbeat; undefined when none had one within the last hour. */
export async function roleWallet(
  sql: ISql,
  chainId: number,
  role: Exclude<WalletRole, "relayer">,
): Promise<RoleWallet | undefined> {
  const [row] = await sql<RoleWallet[]>`
    select address, ${isAlive(sql)} as alive, service.stopped_by(address, null) is not null as stopped, fault
    from service.relayer_wallet
    where chain_id = ${chainId} and role = ${role} and heartbeat_at > now() - make_interval(secs => ${FORGOTTEN_SECONDS})
    order by heartbeat_at desc limit 1`;
  return row && { ...row, address: getAddress(row.address) };
}
