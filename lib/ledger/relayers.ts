import { and, asc, eq, sql } from "drizzle-orm";
import { type Address, getAddress } from "viem";
import type { Database } from "../db/connect.ts";
import { relayerWalletTable } from "./tables.ts";

/** A wallet that some writer sends from; `seenAt` is that writer's last sign of life. */
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
