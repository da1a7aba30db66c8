import { and, eq, isNull, sql } from "drizzle-orm";
import type { Sql } from "postgres";
import { type Address, getAddress } from "viem";
import { createBatcher } from "../../lib/batcher.ts";
import type { Database } from "../../lib/db/connect.ts";
import { apiKey } from "../../lib/db/service.schema.ts";
import { generateKey, hashKey, isWellFormedKey } from "../http/key-format.ts";

export const keyTiers = apiKey.tier.enumValues;
export type KeyTier = (typeof keyTiers)[number];

/** Whoever holds a valid key: the key's number, and the wallet that it belongs to (checksummed). */
export type Agent = { keyId: number; wallet: Address; tier: KeyTier };

export type IssuedKey = Agent & {
  /** The key itself; nobody can read it again. */
  plaintext: string;
  label: string | null;
  createdAt: Date;
};

/** Issues a key to a wallet. Not idempotent: each call makes another key. */
export async function issueKey(
  db: Pick<Database, "insert">,
  { wallet, label, tier }: { wallet: Address; label: string | null; tier: KeyTier },
): Promise<IssuedKey> {
  const plaintext = generateKey();
  const [row] = await db
    .insert(apiKey)
    .values({ keyHash: hashKey(plaintext), wallet: wallet.toLowerCase(), label, tier })
    .returning({ keyId: apiKey.id, createdAt: apiKey.createdAt });
  if (!row) throw new Error("the database returned no row for a new key");
  return { ...row, plaintext, wallet: getAddress(wallet), label, tier };
}

/** No use was noted within the last minute, so that the next one is to be. */
const useIsDue = (sql: Sql) => sql`(last_used_at is null or last_used_at < now() - interval '1 minute')`;

/** Keys that are looked up together. */
const ROUND = 100;

/** The holder of a key, and whether its use should be noted now. */
export type Holder = { agent: Agent; useIsDue: boolean };
export type FindHolder = (plaintext: string) => Promise<Holder | undefined>;

async function findHolders(sql: Sql, hashes: readonly string[]): Promise<Map<string, Holder>> {
  const rows = await sql<{ hash: string; id: string; wallet: Address; tier: KeyTier; due: boolean }[]>`
    select key_hash as hash, id, wallet, tier, ${useIsDue(sql)} as due
    from service.api_key where key_hash = any(${[...hashes]}::text[]) and revoked_at is null`;
  return new Map(
    rows.map(({ hash, id, wallet, tier, due }) => [
      hash,
      { agent: { keyId: Number(id), wallet: getAddress(wallet), tier }, useIsDue: due },
    ]),
  );
}

/**
 * Looks up keys, those of the same moment in one statement, and remembers none: what was revoked is refused at once.
 * Undefined for a text that is malformed, unknown, or was revoked. Rejects when the database is away.
 */
export function createKeyFinder(sql: Sql): FindHolder {
  const find = createBatcher((hashes: string[]) => findHolders(sql, hashes), ROUND);
  return async (plaintext) => {
    if (!isWellFormedKey(plaintext)) return undefined;
    const hash = hashKey(plaintext);
    return (await find(hash)).get(hash);
  };
}

/** Notes that a key was used, once a minute at most however many calls come at once. */
export async function noteKeyUse(sql: Sql, keyId: number): Promise<void> {
  await sql`update service.api_key set last_used_at = now() where id = ${keyId} and ${useIsDue(sql)}`;
}

/** What can be read of a key after it was issued. */
export type KeyRecord = {
  keyId: number;
  label: string | null;
  tier: KeyTier;
  createdAt: Date;
  /** True to the minute; null for a key that was never used. */
  lastUsedAt: Date | null;
};

/** A page of a wallet's keys that were not revoked, oldest first, and how many there are. */
export async function listKeys(
  db: Database,
  wallet: Address,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ keys: KeyRecord[]; total: number }> {
  const ofWallet = and(eq(apiKey.wallet, wallet.toLowerCase()), isNull(apiKey.revokedAt));
  const { id: keyId, label, tier, createdAt, lastUsedAt } = apiKey;
  const [keys, total] = await Promise.all([
    db
      .select({ keyId, label, tier, createdAt, lastUsedAt })
      .from(apiKey)
      .where(ofWallet)
      .orderBy(keyId)
      .limit(limit)
      .offset(offset),
    db.$count(apiKey, ofWallet),
  ]);
  return { keys, total };
}

/**
 * Revokes a key from now on: any key, or only one of `wallet`. Idempotent: a second call keeps and returns the time of
 * the first.
 * @returns the time of revocation, or undefined when there is no such key.
 */
export async function revokeKey(db: Database, keyId: number, wallet?: Address): Promise<Date | undefined> {
  const [row] = await db
    .update(apiKey)
    .set({ revokedAt: sql`coalesce(${apiKey.revokedAt}, now())` })
    .where(and(eq(apiKey.id, keyId), wallet && eq(apiKey.wallet, wallet.toLowerCase())))
    .returning({ revokedAt: apiKey.revokedAt });
  return row?.revokedAt ?? undefined;
}
