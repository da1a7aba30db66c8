import type { Sql } from "postgres";
import type { Address } from "viem";
import type { StopScope } from "../../lib/ledger/stops.ts";
import { lower } from "../../lib/lower.ts";
import type { KeyTier } from "../http/api-keys.ts";

/** A key as the operator sees it: never more of it than the start of its hash. */
export type KeyRow = {
  keyId: number;
  wallet: Address;
  label: string | null;
  tier: KeyTier;
  hashPrefix: string;
  createdAt: Date;
  /** True to the minute; null for a key that was never used. */
  lastUsedAt: Date | null;
  revokedAt: Date | null;
  /** The scope of a stop that covers its purchases; null without one. */
  stoppedBy: StopScope | null;
};

/** Length of a hash's shown prefix, in hex digits, as its owner sees it. */
const HASH_PREFIX = 8;

export type KeyPage = {
  readonly limit: number;
  readonly wallet?: Address | undefined;
  /** Only keys with a lower id. */
  readonly cursor?: number | undefined;
};

/** Keys, revoked ones too, newest first. */
export async function listAllKeys(sql: Sql, { limit, wallet, cursor }: KeyPage): Promise<KeyRow[]> {
  return sql<KeyRow[]>`
    select id::float8 as "keyId", wallet, label, tier, left(key_hash, ${HASH_PREFIX}::int) as "hashPrefix",
      created_at as "createdAt", last_used_at as "lastUsedAt", revoked_at as "revokedAt",
      service.stopped_by(wallet, id) as "stoppedBy"
    from (
      select * from service.api_key
      where true ${wallet ? sql`and wallet = ${lower(wallet)}` : sql``} ${cursor === undefined ? sql`` : sql`and id < ${cursor}`}
      order by id desc limit ${limit}) k
    order by k.id desc`;
}
