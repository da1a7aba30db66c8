import type { Sql } from "postgres";
import { type Address, getAddress } from "viem";
import { lower } from "../../lib/lower.ts";
import { HASH_PREFIX, type KeyTier } from "../http/api-keys.ts";

/** A key as the operator sees it. Only its hash is stored, and only the start of that is read. */
export type KeyRecord = {
  keyId: number;
  hashPrefix: string;
  wallet: Address;
  tier: KeyTier;
  label: string | null;
  createdAt: Date;
  /** True to the minute; null for a key that was never used. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
};

export type KeyPage = {
  readonly limit: number;
  /** The id of the previous page's last key. */
  readonly cursor?: number | undefined;
  readonly wallet?: Address | undefined;
};

/** The keys of all wallets or of one, revoked ones too, newest first; one more than the page's limit. */
export async function readKeys(sql: Sql, { limit, cursor, wallet }: KeyPage): Promise<KeyRecord[]> {
  const rows = await sql<KeyRecord[]>`
    select id::float8 as "keyId", left(key_hash, ${HASH_PREFIX}::int) as "hashPrefix", wallet, tier, label,
      created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt"
    from service.api_key
    where true ${cursor === undefined ? sql`` : sql`and id < ${cursor}`}
      ${wallet === undefined ? sql`` : sql`and wallet = ${lower(wallet)}`}
    order by id desc limit ${limit + 1}`;
  return rows.map((row) => ({ ...row, wallet: getAddress(row.wallet) }));
}
