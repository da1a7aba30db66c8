/** Keys that a wallet issues to itself, by a signature. */
import { and, eq, isNull, lt, sql } from "drizzle-orm";
import type { Address } from "viem";
import type { Database } from "../../lib/db/connect.ts";
import { apiKey, onboardingSignature } from "../../lib/db/service.schema.ts";
import { lower } from "../../lib/lower.ts";
import { type IssuedKey, issueKey } from "./store.ts";

/** Active keys of one wallet; those that an admin issued count too. */
export const MAX_ACTIVE_KEYS = 3;
/** How far a signed timestamp may lie from the server's time, in seconds, either way. */
export const TIMESTAMP_WINDOW_SECONDS = 300;
/** A used signature is remembered so long after its window, in seconds: no two servers' clocks are further apart. */
const CLOCK_MARGIN_SECONDS = 3600;

/** What a wallet signs (EIP-191); `timestamp` in Unix seconds. */
export const onboardingMessage = (address: string, timestamp: number): string =>
  `Service onboarding for ${address} at ${timestamp}`;

/** Whether a timestamp is near enough to `now`; both in whole Unix seconds. */
export const isFresh = (timestamp: number, now: number): boolean =>
  Math.abs(now - timestamp) <= TIMESTAMP_WINDOW_SECONDS;

export type Onboarding =
  | { outcome: "issued"; key: IssuedKey }
  /** A key was made by this signature before. */
  | { outcome: "signature_used" }
  /** Nothing was made, and the signature is as good as before: the wallet may revoke a key and send it again. */
  | { outcome: "cap_reached" };

/**
 * Issues a key of the free tier for a signature that was found to be good, once: one transaction makes the key and uses
 * up the signature, and a lock on the wallet lets one at a time count its keys.
 */
export async function onboard(
  db: Database,
  { wallet, signedAt, label }: { wallet: Address; signedAt: number; label: string | null },
): Promise<Onboarding> {
  const signature = { wallet: lower(wallet), signedAt };
  return db.transaction(async (tx) => {
    await tx.execute(
      sql`select pg_advisory_xact_lock(hashtextextended(${`service:onboard:${lower(wallet)}`}, 0))`,
    );
    const used = await tx
      .select({ signedAt: onboardingSignature.signedAt })
      .from(onboardingSignature)
      .where(
        and(eq(onboardingSignature.wallet, signature.wallet), eq(onboardingSignature.signedAt, signedAt)),
      );
    if (used.length > 0) return { outcome: "signature_used" };
    const active = await tx
      .select({ keyId: apiKey.id })
      .from(apiKey)
      .where(and(eq(apiKey.wallet, signature.wallet), isNull(apiKey.revokedAt)))
      .limit(MAX_ACTIVE_KEYS);
    if (active.length >= MAX_ACTIVE_KEYS) return { outcome: "cap_reached" };
    await tx.insert(onboardingSignature).values(signature);
    return { outcome: "issued", key: await issueKey(tx, { wallet, label, tier: "free" }) };
  });
}

/** Forgets signatures whose timestamp no server accepts any more; `now` in Unix seconds. */
export async function forgetOldSignatures(db: Database, now: number): Promise<void> {
  const oldest = now - TIMESTAMP_WINDOW_SECONDS - CLOCK_MARGIN_SECONDS;
  await db.delete(onboardingSignature).where(lt(onboardingSignature.signedAt, oldest));
}
