import { vaultState } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

export type VaultTotals = {
  /** Tokens, 18 decimals. */
  readonly reserve: bigint;
  /** USDC, 6 decimals. */
  readonly totalReserved: bigint;
  /** Bonds in circulation and redemptions in the queue, dollars with 18 decimals. */
  readonly owed: bigint;
};

/** The vault's totals. The index has every event of the vault, so a total that none has named is 0. */
export async function readVault(db: IndexQuery): Promise<VaultTotals> {
  const [row] = await db.select().from(vaultState);
  return {
    reserve: row?.reserve ?? 0n,
    totalReserved: row?.totalReserved ?? 0n,
    owed: (row?.committed ?? 0n) + (row?.queued ?? 0n),
  };
}
