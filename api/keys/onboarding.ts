/** Keys that a wallet issues to itself with a signature. */
import type { Sql } from "postgres";
import type { Address } from "viem";
import { ApiError } from "../../lib/errors.ts";
import { lower } from "../../lib/lower.ts";
import { type IssuedKey, issueKey, type NewKey } from "./store.ts";

/** How far a signed timestamp may lie from the server's time, in seconds, either way. */
const TIMESTAMP_WINDOW_SECONDS = 300;
/** A used signature is kept for this many seconds after its window, because servers' clocks differ. */
const CLOCK_MARGIN_SECONDS = 3600;

/**
 * Messages that count: the wallet must have signed one of them (EIP-191). `at` is the time in them, in Unix seconds, `resources` those
 * of an EIP-4361 message.
 */
export type SignedTexts = {
  readonly texts: readonly string[];
  readonly at: number;
  readonly resources: readonly string[];
};

/** The service's own message; `timestamp` in Unix seconds. */
export const onboardingMessage = (address: string, timestamp: number): string =>
  `Service onboarding for ${address} at ${timestamp}`;

/** Whether a timestamp is near enough to `now`; both in whole Unix seconds. */
export const isFresh = (timestamp: number, now: number): boolean =>
  Math.abs(now - timestamp) <= TIMESTAMP_WINDOW_SECONDS;

/** @throws ApiError `stale_timestamp` that names `field`, unless its timestamp is near enough to `now` */
export function requireFresh(field: string, timestamp: number, now: number): void {
  if (isFresh(timestamp, now)) return;
  throw new ApiError(
    "stale_timestamp",
    `The ${field} is more than ${TIMESTAMP_WINDOW_SECONDS} seconds from the server's time, ${now}.`,
  );
}

/**
 * The service's own message, with the address in each spelling that a client may have.
 * @throws ApiError `stale_timestamp`
 */
export function serviceMessages(
  { address, sent }: { address: Address; sent: string },
  timestamp: number,
  now: number,
): SignedTexts {
  requireFresh("timestamp", timestamp, now);
  const spellings = new Set([address, sent, address.toLowerCase()]);
  const texts = [...spellings].map((spelling) => onboardingMessage(spelling, timestamp));
  return { texts, at: timestamp, resources: [] };
}

/**
 * Issues one key of the free tier for a verified signature. One transaction marks the signature as used and issues the key,
 * so a signature that is refused for another reason can be sent again.
 * @throws ApiError `signature_used` when the signature has issued a key before, and those of `issueKey`
 */
export async function onboard(
  sql: Sql,
  { signedAt, ...key }: Omit<NewKey, "tier"> & { signedAt: number },
): Promise<IssuedKey> {
  return sql.begin(async (tx) => {
    const unused = await tx`
      insert into service.onboarding_signature (wallet, signed_at) values (${lower(key.wallet)}, ${signedAt})
      on conflict do nothing returning 1`;
    if (unused.length === 0) {
      throw new ApiError(
        "signature_used",
        "The wallet has made a key with this timestamp before: sign again with another one.",
      );
    }
    return issueKey(tx, { ...key, tier: "free" });
  });
}

/** Deletes signatures with a timestamp that no server accepts any more; `now` in Unix seconds. */
export async function forgetOldSignatures(sql: Sql, now: number): Promise<void> {
  const oldest = now - TIMESTAMP_WINDOW_SECONDS - CLOCK_MARGIN_SECONDS;
  await sql`delete from service.onboarding_signature where signed_at < ${oldest}`;
}
