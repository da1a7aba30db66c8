/** Keys that a wallet issues to itself with a signature. */
import type { Sql } from "postgres";
import type { Address } from "viem";
import { lower } from "../../lib/lower.ts";
import { type IssuedKey, issueKey } from "./store.ts";

/** The most active keys that one wallet may have; keys that an admin issued count too. */
export const MAX_ACTIVE_KEYS = 3;
/** How far a signed timestamp may lie from the server's time, in seconds, either way. */
export const TIMESTAMP_WINDOW_SECONDS = 300;
/** A used signature is kept for this many seconds after its window, because servers' clocks differ. */
const CLOCK_MARGIN_SECONDS = 3600;

/** What a wallet signs (EIP-191); `timestamp` in Unix seconds. */
export const onboardingMessage = (address: string, timestamp: number): string =>
  `Service onboarding for ${address} at ${timestamp}`;

/** Whether a timestamp is near enough to `now`; both in whole Unix seconds. */
export const isFresh = (timestamp: number, now: number): boolean =>
  Math.abs(now - timestamp) <= TIMESTAMP_WINDOW_SECONDS;

export type Onboarding =
  | { outcome: "issued"; key: IssuedKey }
  /** This signature was used to issue a key before. */
  | { outcome: "signature_used" }
  /** No key was issued, and the signature is still valid: the wallet may revoke a key and send it again. */
  | { outcome: "cap_reached" };

/**
 * Issues one key of the free tier for a verified signature. One transaction issues the key and marks the signature as used;
 * a lock on the wallet serialises concurrent calls, so that each counts the keys of those before it.
 */
export async function onboard(
  sql: Sql,
  { wallet, signedAt, label }: { wallet: Address; signedAt: number; label: string | null },
): Promise<Onboarding> {
  const signer = lower(wallet);
  return sql.begin(async (tx): Promise<Onboarding> => {
    await tx`select pg_advisory_xact_lock(hashtextextended(${`service:onboard:${signer}`}, 0))`;
    const used = await tx`
      select 1 from service.onboarding_signature where wallet = ${signer} and signed_at = ${signedAt}`;
    if (used.length > 0) return { outcome: "signature_used" };
    const active = await tx`
      select 1 from service.api_key where wallet = ${signer} and revoked_at is null limit ${MAX_ACTIVE_KEYS}`;
    if (active.length >= MAX_ACTIVE_KEYS) return { outcome: "cap_reached" };
    await tx`insert into service.onboarding_signature (wallet, signed_at) values (${signer}, ${signedAt})`;
    return { outcome: "issued", key: await issueKey(tx, { wallet, label, tier: "free" }) };
  });
}

/** Deletes signatures with a timestamp that no server accepts any more; `now` in Unix seconds. */
export async function forgetOldSignatures(sql: Sql, now: number): Promise<void> {
  const oldest = now - TIMESTAMP_WINDOW_SECONDS - CLOCK_MARGIN_SECONDS;
  await sql`delete from service.onboarding_signature where signed_at < ${oldest}`;
}
