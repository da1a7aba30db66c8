import { and, asc, desc, eq, sql } from "drizzle-orm";
import { type Address, getAddress } from "viem";
import type { Database } from "../db/connect.ts";
import { relayerWalletTable, type WalletRole } from "./tables.ts";

/** A relayer's wallet that some writer sends from; `seenAt` is that writer's last sign of life. */
export type RelayerStatus = { address: Address; chainId: number; seenAt: Date };

/** A writer renews its leases every 2 s; after this many seconds without a renewal it counts as gone. */
const HEARTBEAT_SECONDS = 15;

/**
 * The relayer wallets of a chain that a living writer owns and the operator has not stopped, addresses checksummed, in the
 * order of their addresses.
 */
export async function liveRelayers(db: Database, chainId: number): Promise<RelayerStatus[]> {
  const { address, heartbeatAt } = relayerWalletTable;
  const rows = await db
    .select({ address, seenAt: heartbeatAt })
    .from(relayerWalletTable)
    .where(
      and(
        eq(relayerWalletTable.chainId, chainId),
        eq(relayerWalletTable.role, "relayer"),
        sql`${heartbeatAt} > now() - make_interval(secs => ${HEARTBEAT_SECONDS})`,
        sql`${relayerWalletTable.leaseOwner} IS NOT NULL`,
        sql`service.stopped_by(${address}, null) IS DISTINCT FROM 'wallet'`,
      ),
    )
    .orderBy(asc(address));
  return rows.flatMap((row) =>
    row.seenAt === null ? [] : [{ address: getAddress(row.address), chainId, seenAt: row.seenAt }],
  );
}

/** Not seen for so long, a wallet is one that the operator has taken away. */
const FORGOTTEN_SECONDS = 3600;

/**
 * The wallet that has a role of its own on the testnet. `alive`: some writer sends from it; `stopped`: the operator forbids
 * it to; `fault`: what keeps that writer from signing with it now, in words.
 */
export type RoleWallet = { address: Address; alive: boolean; stopped: boolean; fault: string | null };

/** The sandbox's or the faucet's wallet, the one that was seen last; undefined where no writer has had one for an hour. */
export async function roleWallet(
  db: Database,
  chainId: number,
  role: Exclude<WalletRole, "relayer">,
): Promise<RoleWallet | undefined> {
  const { address, heartbeatAt, leaseOwner, fault } = relayerWalletTable;
  const within = (seconds: number) =>
    sql<boolean>`${heartbeatAt} > now() - make_interval(secs => ${seconds})`;
  const [row] = await db
    .select({
      address,
      alive: sql<boolean>`(${leaseOwner} IS NOT NULL AND ${within(HEARTBEAT_SECONDS)})`,
      stopped: sql<boolean>`(service.stopped_by(${address}, null) IS NOT NULL)`,
      fault,
    })
    .from(relayerWalletTable)
    .where(
      and(
        eq(relayerWalletTable.chainId, chainId),
        eq(relayerWalletTable.role, role),
        within(FORGOTTEN_SECONDS),
      ),
    )
    .orderBy(desc(heartbeatAt))
    .limit(1);
  return row && { ...row, address: getAddress(row.address) };
}
