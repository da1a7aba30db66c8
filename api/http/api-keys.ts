/** API keys: their form, and the look-up of a key's holder. */
import { createHash, randomBytes } from "node:crypto";
import type { Sql } from "postgres";
import { type Address, getAddress } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import { type KeyLimitRow, type KeyLimits, keyLimitColumns, keyLimitsOf } from "./key-limits.ts";

export const keyTiers = ["free", "paid"] as const;
export type KeyTier = (typeof keyTiers)[number];

/** The holder of a valid key: the key's id and limits, and the wallet (checksummed) that the key belongs to. */
export type KeyHolder = { keyId: number; wallet: Address; tier: KeyTier; limits: KeyLimits };

const KEY_PATTERN = /^lk_[0-9a-f]{64}$/;

/** True for a text of the form `lk_<64 hex digits>`. */
export const isWellFormedKey = (text: string): boolean => KEY_PATTERN.test(text);

/** A new key: `lk_` and 32 random bytes as hex. It is shown once; only its hash is stored. */
export const generateKey = (): string => `lk_${randomBytes(32).toString("hex")}`;

/**
 * SHA-256 of a key, as hex. A key has 256 random bits, so a plain hash protects it as well as a slow one would, and a
 * look-up by hash leaks nothing through its timing.
 */
export const hashKey = (key: string): string => createHash("sha256").update(key).digest("hex");

/**
 * Length of a hash's shown prefix, in hex digits. It tells keys apart, and is of no use to a guesser: a key has 256 random
 * bits, and the look-up takes the whole hash.
 */
export const HASH_PREFIX = 8;

/** True when the key's last use was noted more than a minute ago. */
const useIsDue = (sql: Sql) => sql`(last_used_at is null or last_used_at < now() - interval '1 minute')`;

/** Keys per look-up statement. */
const ROUND = 100;

/** A key's holder, and whether this use should be noted. */
export type FoundHolder = { holder: KeyHolder; useIsDue: boolean };
export type FindHolder = (plaintext: string) => Promise<FoundHolder | undefined>;

async function findHolders(sql: Sql, hashes: readonly string[]): Promise<Map<string, FoundHolder>> {
  type Row = { hash: string; id: string; wallet: Address; tier: KeyTier; due: boolean } & KeyLimitRow;
  const rows = await sql<Row[]>`
    select key_hash as hash, id, wallet, tier, ${keyLimitColumns(sql)}, ${useIsDue(sql)} as due
    from service.api_key where key_hash = any(${[...hashes]}::text[]) and revoked_at is null`;
  return new Map(
    rows.map(({ hash, id, wallet, tier, due, ...limits }) => [
      hash,
      {
        holder: { keyId: Number(id), wallet: getAddress(wallet), tier, limits: keyLimitsOf(limits) },
        useIsDue: due,
      },
    ]),
  );
}

/**
 * Looks up keys, those of concurrent requests in one statement. Nothing is cached, so that a revoked key is refused at
 * once. Undefined for a malformed, unknown or revoked key. Rejects when the database is down.
 */
export function createKeyFinder(sql: Sql): FindHolder {
  const find = createBatcher((hashes: string[]) => findHolders(sql, hashes), ROUND);
  return async (plaintext) => {
    if (!isWellFormedKey(plaintext)) return undefined;
    const hash = hashKey(plaintext);
    return (await find(hash)).get(hash);
  };
}

/** Notes that a key was used, at most once a minute. */
export async function noteKeyUse(sql: Sql, keyId: number): Promise<void> {
  await sql`update service.api_key set last_used_at = now() where id = ${keyId} and ${useIsDue(sql)}`;
}
