import type { Sql } from "postgres";
import type { Hex } from "viem";

/** A purchase that came to its end in a block; `keyId` is a decimal. */
export type EndedPurchase = { keyId: string; hash: Hex; ending: "bought" | "reverted" | "replaced" };

/** How purchases that were settled ended, and whose they are. */
export async function endedPurchases(sql: Sql, ids: readonly string[]): Promise<EndedPurchase[]> {
  if (ids.length === 0) return [];
  return sql<EndedPurchase[]>`
    select key_id::text as "keyId", tx_hash as hash,
      case state when 'failed' then 'reverted' when 'replaced' then 'replaced' else 'bought' end as ending
    from service.purchase
    where id = any(${[...ids]}::uuid[]) and state in ('mined', 'confirmed', 'failed', 'replaced') and tx_hash is not null`;
}
