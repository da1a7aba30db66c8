import type { ISql, Sql, TransactionSql } from "postgres";
import { type Address, getAddress } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { lower } from "../../lib/lower.ts";
import { generateKey, HASH_PREFIX, hashKey, type KeyHolder, type KeyTier } from "../http/api-keys.ts";
import { decimalOrNull } from "../http/field-types.ts";
import { type KeyLimitRow, type KeyLimits, keyLimitColumns, keyLimitsOf } from "../http/key-limits.ts";

const textArray = (values: readonly string[] | null): string[] | null => values && [...values];

/** The most active keys that one wallet may have, whoever issued them. */
const MAX_ACTIVE_KEYS = 3;

export type IssuedKey = KeyHolder & {
  /** The key itself; it cannot be read again. */
  plaintext: string;
  label: string | null;
  createdAt: Date;
};

export type NewKey = {
  wallet: Address;
  label: string | null;
  tier: KeyTier;
  limits: KeyLimits;
  /** The id of an active key of the wallet, which is revoked in the same transaction. */
  replaces?: number | undefined;
};

const named = ({ id, label }: { id: number; label: string | null }): string =>
  label === null ? String(id) : `${id} (${label})`;

/**
 * Issues a key to a wallet. Not idempotent: each call makes another key. A lock on the wallet, until the transaction ends,
 * serialises concurrent calls, so that each counts the keys of those before it.
 * @throws ApiError `cap_reached` when the wallet has three active keys, and `key_not_found` when `replaces` is not an active key of the wallet
 */
export async function issueKey(
  tx: TransactionSql,
  { wallet, label, tier, limits, replaces }: NewKey,
): Promise<IssuedKey> {
  const holder = lower(wallet);
  await tx`select pg_advisory_xact_lock(hashtextextended(${`service:keys:${holder}`}, 0))`;
  const active = await tx<{ id: number; label: string | null }[]>`
    select id::float8 as id, label from service.api_key where wallet = ${holder} and revoked_at is null order by id`;
  if (replaces !== undefined) {
    if (!active.some(({ id }) => id === replaces))
      throw new ApiError("key_not_found", `${wallet} has no active key ${replaces} to replace.`);
    await revokeKey(tx, replaces);
  } else if (active.length >= MAX_ACTIVE_KEYS) {
    throw new ApiError(
      "cap_reached",
      `The wallet has ${MAX_ACTIVE_KEYS} active keys already, with the ids ${active.map(named).join(", ")}: revoke or replace one.`,
    );
  }
  const plaintext = generateKey();
  const [row] = await tx<{ keyId: number; createdAt: Date }[]>`
    insert into service.api_key (
      key_hash, wallet, label, tier, scopes, products, max_premium_per_purchase, max_premium_per_day)
    values (${hashKey(plaintext)}, ${holder}, ${label}, ${tier}, ${textArray(limits.scopes)}::text[],
      ${textArray(limits.products)}::text[], ${decimalOrNull(limits.maxPremiumPerPurchase)},
      ${decimalOrNull(limits.maxPremiumPerDay)})
    returning id::float8 as "keyId", created_at as "createdAt"`;
  if (!row) throw new Error("the database returned no row for a new key");
  return { ...row, plaintext, wallet: getAddress(wallet), label, tier, limits };
}

/** What can be read of a key after it was issued. */
export type KeyRecord = {
  keyId: number;
  label: string | null;
  tier: KeyTier;
  limits: KeyLimits;
  createdAt: Date;
  /** True to the minute; null for a key that was never used. */
  lastUsedAt: Date | null;
  /** The start of the stored hash, as hex. */
  hashPrefix: string;
};

/** A page of a wallet's active keys, oldest first, and how many it has. */
export async function listKeys(
  sql: Sql,
  wallet: Address,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ keys: KeyRecord[]; total: number }> {
  const active = sql`from service.api_key where wallet = ${lower(wallet)} and revoked_at is null`;
  const [keys, [count]] = await Promise.all([
    sql<(Omit<KeyRecord, "limits"> & KeyLimitRow)[]>`
      select id::float8 as "keyId", label, tier, ${keyLimitColumns(sql)}, created_at as "createdAt", last_used_at as "lastUsedAt",
        left(key_hash, ${HASH_PREFIX}::int) as "hashPrefix"
      ${active} order by id limit ${limit} offset ${offset}`,
    sql<{ total: number }[]>`select count(*)::int as total ${active}`,
  ]);
  const shown = keys.map(({ scopes, products, maxPremiumPerPurchase, maxPremiumPerDay, ...key }) => ({
    ...key,
    limits: keyLimitsOf({ scopes, products, maxPremiumPerPurchase, maxPremiumPerDay }),
  }));
  return { keys: shown, total: count?.total ?? 0 };
}

/**
 * Revokes a key: any key, or only one of `wallet`. Idempotent: a second call keeps and returns the time of the first.
 * @returns the time of revocation, or undefined when there is no such key.
 */
export async function revokeKey(sql: ISql, keyId: number, wallet?: Address): Promise<Date | undefined> {
  const [row] = await sql<{ revokedAt: Date }[]>`
    update service.api_key set revoked_at = coalesce(revoked_at, now())
    where id = ${keyId} ${wallet ? sql`and wallet = ${lower(wallet)}` : sql``}
    returning revoked_at as "revokedAt"`;
  return row?.revokedAt;
}
