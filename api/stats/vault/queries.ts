import { vaultState } from "../../../ponder.schema.ts";
import type { IndexQuery } from "../../indexed/reader.ts";

/** Tokens with 18 decimals, USDC with 6, whole dollars. */
export type VaultTotals = {
  readonly reserve: bigint;
  readonly totalReserved: bigint;
  readonly obligations: bigint;
};

/** The vault's totals. The index has every event of the vault, so a total that none has named is 0. */
export async function readVault(db: IndexQuery): Promise<VaultTotals> {
  const [row] = await db.select().from(vaultState);
  return {
    reserve: row?.reserve ?? 0n,
    totalReserved: row?.totalReserved ?? 0n,
    obligations: row?.obligations ?? 0n,
  };
}
