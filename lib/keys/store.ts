import { and, eq, isNull, sql } from "drizzle-orm";
import { type Address, getAddress } from "viem";
import type { Database } from "../db/connect.ts";
import { apiKey } from "../db/service.schema.ts";
import { generateKey, hashKey, isWellFormedKey } from "./format.ts";

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
const useIsDue = sql<boolean>`(${apiKey.lastUsedAt} is null or ${apiKey.lastUsedAt} < now() - interval '1 minute')`;

/**
 * The holder of a key, and whether its use should be noted now; undefined when the text is malformed, unknown, or was
 * revoked.
 */
export async function findAgent(
  db: Database,
  plaintext: string,
): Promise<{ agent: Agent; useIsDue: boolean } | undefined> {
  if (!isWellFormedKey(plaintext)) return undefined;
  const [row] = await db
    .select({ keyId: apiKey.id, wallet: apiKey.wallet, tier: apiKey.tier, useIsDue })
    .from(apiKey)
    .where(and(eq(apiKey.keyHash, hashKey(plaintext)), isNull(apiKey.revokedAt)));
  if (!row) return undefined;
  const { useIsDue: due, wallet, ...rest } = row;
  return { agent: { ...rest, wallet: getAddress(wallet) }, useIsDue: due };
}

/** Notes that a key was used, once a minute at most however many calls come at once. */
export async function noteKeyUse(db: Database, keyId: number): Promise<void> {
  await db
    .update(apiKey)
    .set({ lastUsedAt: sql`now()` })
    .where(and(eq(apiKey.id, keyId), useIsDue));
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
